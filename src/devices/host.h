/* host.h: the two halves of the host device.
 *
 *     host.c        blocks: mmap, munmap          host_pages.c   virtual memory: mremap
 */
#ifndef MASU_DEVICES_HOST_H
#define MASU_DEVICES_HOST_H

#include "devices/devices.h"

/* Two page-table levels move whole: what lies congruent to them moves fastest. */
#define MASU__HOST_GRANULE ((size_t)2 << 20)
#define MASU__HOST_LARGE   ((size_t)1 << 30)

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

extern const masu__device_vm_ops masu__host_vm_ops;

/* Whether this kernel can move pages and keep the place they came from (Linux 5.7). */
bool masu__host_can_move(void);

/* munmap. At the limit of mappings, where that would cut one in two, the memory is given back now and the addresses
 * later; false: not even that. device: a host. */
bool masu__host_unmap(masu_device *device, void *address, size_t bytes);

#endif
