/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "median.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

/* Values come from outside: whoever orders them so that each step splits off one value only gains no time by it. */
#define ROUNDS_MAX 64

/* Elements before @end_low are at most the pivot, those from @start_high on at least; what lies between equals it. */
struct split {
        size_t end_low, start_high;
};

static inline double value_at(const char *list, size_t size, size_t i)
{
        double value;

        memcpy(&value, list + i * size, sizeof(value));
        return value;
}

static inline void swap(char *list, size_t size, size_t i, size_t k)
{
        char kept[sizeof(struct weighted)];

        memcpy(kept, list + i * size, size);
        memcpy(list + i * size, list + k * size, size);
        memcpy(list + k * size, kept, size);
}

static double middle_of(double a, double b, double c)
{
        return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* Hoare's partition of [low, high), which is not empty. Elements have @size bytes and begin with their value. */
static inline struct split split(char *list, size_t size, size_t low, size_t high)
{
        double pivot = middle_of(value_at(list, size, low), value_at(list, size, low + (high - low) / 2),
                                 value_at(list, size, high - 1));
        size_t i = low, end = high; /* [end, high) is at least the pivot */

        while (i < end) {
                while (value_at(list, size, i) < pivot)
                        i++;
                while (value_at(list, size, end - 1) > pivot)
                        end--;
                if (i < end)
                        swap(list, size, i++, --end);
        }
        return (struct split){ end, i };
}

static int compare_values(const void *a, const void *b)
{
        double x, y;

        memcpy(&x, a, sizeof(x));
        memcpy(&y, b, sizeof(y));
        return x < y ? -1 : x > y;
}

/* Moves the element that sorting would put at @k there, with none that is larger before it. */
static void move_to(double *list, size_t n, size_t k)
{
        size_t low = 0, high = n;

        for (int round = 0; high - low > 1; round++) {
                struct split at;

                if (round == ROUNDS_MAX) {
                        qsort(list + low, high - low, sizeof(*list), compare_values);
                        return;
                }
                at = split((char *)list, sizeof(*list), low, high);
                if (k >= at.end_low && k < at.start_high)
                        return;
                if (k < at.end_low)
                        high = at.end_low;
                else
                        low = at.start_high;
        }
}

double median(double *list, size_t n)
{
        double below;

        if (n == 0)
                return NAN;
        move_to(list, n, n / 2);
        if (n % 2)
                return list[n / 2];
        below = list[0];
        for (size_t i = 1; i < n / 2; i++)
                below = MAX(below, list[i]);
        return (below + list[n / 2]) / 2;
}

static double weight_of(const struct weighted *list, size_t from, size_t to)
{
        double sum = 0;

        for (size_t i = from; i < to; i++)
                sum += list[i].weight;
        return sum;
}

double median_weighted(struct weighted *list, size_t n)
{
        double all = weight_of(list, 0, n), below = 0;
        size_t low = 0, high = n;

        for (int round = 0; high - low > 1 && round < ROUNDS_MAX; round++) {
                struct split at = split((char *)list, sizeof(*list), low, high);
                double left = below + weight_of(list, low, at.end_low),
                       equal = weight_of(list, at.end_low, at.start_high);

                if (2 * left >= all) {
                        high = at.end_low;
                } else if (2 * (left + equal) >= all) {
                        return list[at.end_low].value;
                } else {
                        below = left + equal;
                        low = at.start_high;
                }
        }
        if (high - low > 1)
                qsort(list + low, high - low, sizeof(*list), compare_values);
        for (; low + 1 < high; low++) {
                below += list[low].weight;
                if (2 * below >= all)
                        break;
        }
        return n ? list[low].value : 0;
}
