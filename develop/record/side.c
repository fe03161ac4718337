/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "answer/options.h"
#include "same-work.h"
#include "side.h"
#include "space.h"
#include "util/util.h"
#include "util/words.h"

#define SAMPLES_LEAST 10 /* below, nothing can be told of a run */

static const char *name_of(const struct side *side, char *buf, size_t size)
{
        return util_printable(side->argv[0], buf, size);
}

static int check_run(const struct side *side, size_t i)
{
        const struct recording *recording = &side->runs[i].recording;
        char name[128];

        if (recording->samples < SAMPLES_LEAST) {
                log_error(&program_log,
                          words_counted("run %zu of %s has %llu sample, as it used %.3f s of CPU time; give "
                                        "it more to do: %u samples are a second",
                                        "run %zu of %s has %llu samples, as it used %.3f s of CPU time; give "
                                        "it more to do: %u samples are a second", recording->samples),
                          i + 1, name_of(side, name, sizeof(name)), (unsigned long long)recording->samples,
                          side->runs[i].result.cpu_s, EVENTS_PER_S);
                return -EBADMSG;
        }
        if ((double)recording->without_app <= SHARE_LOST_MAX * (double)recording->samples)
                return 0;
        log_error(&program_log,
                  "run %zu of %s: %.0f %% of its samples have no frame of the program, %.0f %% "
                  "could not be followed to their first function, so tasks would be charged to nobody; take "
                  "more of the stack (--stack 32), install the -dbgsym packages of the libraries it uses, or "
                  "build it with -fno-omit-frame-pointer or -fasynchronous-unwind-tables",
                  i + 1, name_of(side, name, sizeof(name)),
                  100.0 * (double)recording->without_app / (double)recording->samples,
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
                log_error(&program_log,
                          "%s ended with exit status %d in its first run and %d in run %zu, so "
                          "its runs did not do the same; nothing was written",
                          name_of(side, name, sizeof(name)), side->runs[0].result.status,
                          side->runs[i].result.status, i + 1);
                return -EBADMSG;
        }
        return 0;
}

static struct work_done work_of(const struct side *side, const char *script)
{
        struct work_done work = { .frames = side->frames > 0 ? (double)side->frames : 0 };

        for (size_t i = 0; i < side->n; i++) {
                const struct child_result *result = &side->runs[i].result;

                work_add(&work,
                         &(struct work_run){ result->status,
                                             fmax((double)result->read_bytes, run_count(&side->runs[i], EVENT_RECEIVE)),
                                             fmax((double)result->written_bytes, run_count(&side->runs[i], EVENT_SEND)),
                                             result->wall_s, result->cpu_s });
        }
        snprintf(work.script, sizeof(work.script), "%s", script ? script : "");
        return work;
}

/* A recording is kept, also where joulecast diff refuses it, as the difference may be meant. */
static void warn_of_work(const struct side *a, const struct side *b, const char *script)
{
        const struct work_done first = work_of(a, script), second = work_of(b, script);
        char reason[512];
        enum same_work same = same_work_check(&first, _("the first program"), &second, _("the second"),
                                              reason, sizeof(reason));

        if (same == OTHER_WORK)
                log_warning(&program_log, "%s, so they did not do the same work; joulecast diff compares "
                            "them only with --even-so", reason);
        else if (same != SAME_WORK)
                log_warning(&program_log, "%s; is it the same work?", reason);
}

int side_compare(const struct side *a, const struct side *b, const char *script)
{
        int first = a->runs[0].result.status, second = b->runs[0].result.status;

        if (first != second) {
                log_error(&program_log, "the first program ended with exit status %d, the second with %d, so "
                          "they did not do the same; nothing was written", first, second);
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
