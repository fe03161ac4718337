/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "same-work.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "util/words.h"

#define ALIKE 0.10       /* bytes and frames of two programs that did the same differ by at most this part */
#define ALIKE_TIME 0.25  /* the same for times that a script paces, as the machine may be busy now and then */
#define MB 1e6
#define SMALL_BYTES 1e5  /* fewer bytes do not count, as starting a program reads files, too */
#define SMALL_OUTPUT 1e3 /* output of about the same length shows the same work only if it is longer */
#define SMALL_FRAMES 10
#define SMALL_S 2.0

static double add_to_mean(double mean, double value, size_t n)
{
        return mean + (value - mean) / (double)n;
}

void work_add(struct work_done *work, const struct work_run *run)
{
        size_t n = ++work->n;

        if (n == 1)
                work->status = run->status;
        else if (work->status != run->status)
                work->status = WORK_STATUS_MIXED;
        work->read_bytes = add_to_mean(work->read_bytes, run->read_bytes, n);
        work->written_bytes = add_to_mean(work->written_bytes, run->written_bytes, n);
        work->wall_s = add_to_mean(work->wall_s, run->wall_s, n);
        work->cpu_s = add_to_mean(work->cpu_s, run->cpu_s, n);
}

/* Do two numbers differ? No if one is unknown, or both are too small to tell. */
static bool are_unlike(double a, double b, double small)
{
        return fabs(a - b) > ALIKE * fmax(a, b) && fmax(a, b) > small;
}

static bool are_alike(double a, double b, double small)
{
        return fabs(a - b) <= ALIKE * fmax(a, b) && fmax(a, b) > small;
}

/* Did one take longer by more than its additional CPU time? The script's pauses are the same for both. */
static bool took_other_time(const struct work_done *a, const struct work_done *b)
{
        double more_s = fabs(a->wall_s - b->wall_s) - fabs(a->cpu_s - b->cpu_s);

        return *a->script && strcmp(a->script, b->script) == 0 && more_s > SMALL_S &&
               more_s > ALIKE_TIME * fmax(a->wall_s, b->wall_s);
}

static enum same_work check_status(const struct work_done *a, const char *name_a, const struct work_done *b,
                                   const char *name_b, char *reason, size_t size)
{
        if (a->status == WORK_STATUS_MIXED || b->status == WORK_STATUS_MIXED)
                snprintf(reason, size, _("the runs of %s did not all end with the same exit status"),
                         a->status == WORK_STATUS_MIXED ? name_a : name_b);
        else if (a->status >= 0 && b->status >= 0 && a->status != b->status)
                snprintf(reason, size, _("%s ended with exit status %d, and %s with %d"), name_a, a->status,
                         name_b, b->status);
        else
                return SAME_WORK;
        return OTHER_WORK;
}

static enum same_work check_bytes(const struct work_done *a, const char *name_a, const struct work_done *b,
                                  const char *name_b, char *reason, size_t size)
{
        bool read = are_unlike(a->read_bytes, b->read_bytes, SMALL_BYTES);
        bool written = are_unlike(a->written_bytes, b->written_bytes, SMALL_BYTES);

        if (read && written)
                snprintf(reason, size, _("%s read %.2f MB and wrote %.2f, and %s read %.2f and wrote %.2f"), name_a,
                         a->read_bytes / MB, a->written_bytes / MB, name_b, b->read_bytes / MB, b->written_bytes / MB);
        else if (read)
                snprintf(reason, size, _("%s read %.2f MB, and %s %.2f"), name_a, a->read_bytes / MB, name_b,
                         b->read_bytes / MB);
        else if (written)
                snprintf(reason, size, _("%s wrote %.2f MB, and %s %.2f"), name_a, a->written_bytes / MB, name_b,
                         b->written_bytes / MB);
        else
                return SAME_WORK;
        return are_alike(a->read_bytes, b->read_bytes, SMALL_BYTES) ||
                               are_alike(a->written_bytes, b->written_bytes, SMALL_OUTPUT) ?
                       SAME_WORK_PART :
                       MORE_WORK;
}

enum same_work same_work_check(const struct work_done *a, const char *name_a, const struct work_done *b,
                               const char *name_b, char *reason, size_t size)
{
        enum same_work found;

        *reason = '\0';
        if (a->n == 0 || b->n == 0)
                return SAME_WORK;
        found = check_status(a, name_a, b, name_b, reason, size);
        if (found == OTHER_WORK)
                return OTHER_WORK;
        if (took_other_time(a, b)) {
                snprintf(reason, size, _("with the same input, and apart from what they computed, %s took "
                                         "%.3g s, and %s %.3g s"),
                         name_a, a->wall_s, name_b, b->wall_s);
                return OTHER_WORK;
        }
        if (a->frames > 0 && b->frames > 0 && are_unlike(a->frames, b->frames, SMALL_FRAMES)) {
                snprintf(reason, size, _("%s showed %.0f frames, and %s %.0f"), name_a, a->frames, name_b, b->frames);
                return MORE_WORK;
        }
        return check_bytes(a, name_a, b, name_b, reason, size);
}
