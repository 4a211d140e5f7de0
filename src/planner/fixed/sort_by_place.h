/* sort_by_place.h: sorts an array of structs by their field `at`. It is most of a step's cost of the searches around
 * fixed rows, so it is not qsort: the comparison is written out for the type.
 *
 *     MASU__SORT_BY_PLACE(sort_borders, border, int64_t)     static void sort_borders(border *items, uint32_t count)
 *
 * O(n log n) for arrays as they come, O(log n) deep always: the shorter part is sorted first, the other is the next
 * round's.
 */
#ifndef MASU_PLANNER_FIXED_SORT_BY_PLACE_H
#define MASU_PLANNER_FIXED_SORT_BY_PLACE_H

#include <stdint.h>

enum { MASU__FEW_TO_SORT = 16 }; /* are inserted one by one */

#define MASU__SORT_BY_PLACE(sort, type, key)                           \
    static void sort##_swap(type *a, type *b) {                        \
        type kept = *a;                                                \
        *a = *b;                                                       \
        *b = kept;                                                     \
    }                                                                  \
    /* The middle one of three, put first. */                          \
    static void sort##_middle_first(type *b, uint32_t count) {         \
        type *middle = &b[count / 2], *last = &b[count - 1];           \
        if (middle->at > last->at)                                     \
            sort##_swap(middle, last);                                 \
        if (b->at > last->at)                                          \
            sort##_swap(b, last);                                      \
        if (b->at < middle->at)                                        \
            sort##_swap(b, middle);                                    \
    }                                                                  \
    static void sort(type *b, uint32_t count) {                        \
        while (count > MASU__FEW_TO_SORT) {                            \
            sort##_middle_first(b, count);                             \
            uint32_t i = 0, j = count;                                 \
            for (key pivot = b->at;;) {                                \
                while (b[++i].at < pivot && i + 1 < count)             \
                    ;                                                  \
                while (b[--j].at > pivot)                              \
                    ;                                                  \
                if (i >= j)                                            \
                    break;                                             \
                sort##_swap(&b[i], &b[j]);                             \
            }                                                          \
            sort##_swap(b, &b[j]);                                     \
            uint32_t behind = count - j - 1;                           \
            sort(j < behind ? b : b + j + 1, j < behind ? j : behind); \
            b = j < behind ? b + j + 1 : b;                            \
            count = j < behind ? behind : j;                           \
        }                                                              \
        for (uint32_t k = 1; k < count; k++) {                         \
            type moved = b[k];                                         \
            uint32_t at = k;                                           \
            for (; at > 0 && b[at - 1].at > moved.at; at--)            \
                b[at] = b[at - 1];                                     \
            b[at] = moved;                                             \
        }                                                              \
    }

#endif
