/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "options.h"
#include "side.h"
#include "space.h"
#include "util/util.h"
#include "util/words.h"

#define SAMPLES_LEAST 10 /* below, nothing can be told of a run */
#define ALIKE 0.10       /* bytes of two sides that did the same */
#define SMALL_BYTES 1e5  /* what starting a program reads is not its work */
#define SMALL_FRAMES 10
#define SMALL_S 1.0      /* a machine is busy now and then */

static const char *name_of(const struct side *side, char *buf, size_t size)
{
        return util_printable(side->argv[0], buf, size);
}

static int check_run(const struct side *side, size_t i)
{
        const struct recording *recording = &side->runs[i].recording;
        char name[128];

        if (recording->samples < SAMPLES_LEAST) {
                log_error(&program_log, "run %zu of %s has %llu samples, as it used %.3f s of CPU time; give it more to do: %u samples "
                          "are a second", i + 1, name_of(side, name, sizeof(name)), (unsigned long long)recording->samples,
                          side->runs[i].result.cpu_s, EVENTS_PER_S);
                return -EBADMSG;
        }
        if ((double)recording->without_app <= SHARE_LOST_MAX * (double)recording->samples)
                return 0;
        log_error(&program_log, "run %zu of %s: %.0f %% of its samples have no frame of the program, %.0f %% could not be followed to "
                  "their first function, so tasks would be charged to nobody; take more of the stack (--stack 32), install the -dbgsym "
                  "packages of the libraries it uses, or build it with -fno-omit-frame-pointer or -fasynchronous-unwind-tables", i + 1,
                  name_of(side, name, sizeof(name)), 100.0 * (double)recording->without_app / (double)recording->samples,
                  100.0 * (double)recording->cut / (double)recording->samples);
        return -EBADMSG;
}

int side_check(const struct side *side)
{
        char name[128];

        for (size_t i = 0; i < side->n; i++) {
                int err = check_run(side, i);

                if (err)
                        return err;
                if (side->runs[i].result.status == side->runs[0].result.status)
                        continue;
                log_error(&program_log, "%s ended with exit status %d in its first run and %d in run %zu, so its runs did not do the same; "
                          "nothing was written", name_of(side, name, sizeof(name)), side->runs[0].result.status,
                          side->runs[i].result.status, i + 1);
                return -EBADMSG;
        }
        return 0;
}

static double mean(const struct side *side, double (*of)(const struct run *))
{
        double sum = 0;

        for (size_t i = 0; i < side->n; i++)
                sum += of(&side->runs[i]);
        return sum / (double)side->n;
}

static double read_bytes(const struct run *run)
{
        return (double)run->result.read_bytes;
}

static double written_bytes(const struct run *run)
{
        return (double)run->result.written_bytes;
}

static double wall_s(const struct run *run)
{
        return run->result.wall_s;
}

static bool are_unlike(double a, double b, double small)
{
        return fabs(a - b) > ALIKE * fmax(a, b) && fmax(a, b) > small;
}

static void warn_of_work(const struct side *a, const struct side *b, bool script)
{
        double read_a = mean(a, read_bytes), read_b = mean(b, read_bytes);
        double written_a = mean(a, written_bytes), written_b = mean(b, written_bytes);
        double time_a = mean(a, wall_s), time_b = mean(b, wall_s);

        if (are_unlike(read_a, read_b, SMALL_BYTES))
                log_warning(&program_log, "the first program read %.4g bytes, the second %.4g; is it the same work?", read_a,
                            read_b);
        if (are_unlike(written_a, written_b, SMALL_BYTES))
                log_warning(&program_log, "the first program wrote %.4g bytes, the second %.4g; is it the same work?", written_a,
                            written_b);
        if (a->frames >= 0 && b->frames >= 0 && are_unlike((double)a->frames, (double)b->frames, SMALL_FRAMES))
                log_warning(&program_log, "the first program showed %lld frames, the second %lld; is it the same work?",
                            (long long)a->frames, (long long)b->frames);
        if (script && are_unlike(time_a, time_b, SMALL_S))
                log_warning(&program_log, "with the same input the first program took %.3g s, the second %.3g s; is it the same work?",
                            time_a, time_b);
}

int side_compare(const struct side *a, const struct side *b, bool script)
{
        int first = a->runs[0].result.status, second = b->runs[0].result.status;

        if (first != second) {
                log_error(&program_log, "the first program ended with exit status %d, the second with %d, so they did not do the same; nothing "
                          "was written", first, second);
                return -EBADMSG;
        }
        if (!a->runs[0].played || !b->runs[0].played) {
                log_error(&program_log, !a->runs[0].played
                          ? N_("the first program ended before its input script did, so both did not do the same; nothing was "
                               "written")
                          : N_("the second program ended before its input script did, so both did not do the same; nothing was "
                               "written"));
                return -EBADMSG;
        }
        warn_of_work(a, b, script);
        return 0;
}

void side_clear(struct side *side)
{
        for (size_t i = 0; i < side->n; i++)
                run_clear(&side->runs[i]);
        free(side->runs);
        free(side->calls);
        folder_clear(&side->folder);
}
