/* masu.h: everything of the library part. Programs include this one. (C++: masu.hpp has allocators beside it.) */
#ifndef MASU_H
#define MASU_H

#include <masu/alloc.h>
#include <masu/arena.h>
#include <masu/bestfit.h>
#include <masu/bucket.h>
#include <masu/check.h>
#include <masu/device.h>
#include <masu/export.h>
#include <masu/heap.h>
#include <masu/moves.h>
#include <masu/plan.h>
#include <masu/publish.h>
#include <masu/record.h>
#include <masu/stats.h>
#include <masu/status.h>
#include <masu/stream.h>
#include <masu/trace.h>
#include <masu/version.h>
#include <masu/vm.h>

#endif
