/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sample.h"

#include <string.h>

#include "util/util.h"

/* The memory that a burst of processes needed is given back once a sample is small again. */
static void shrink(struct sample *sample)
{
        util_shrink(&sample->gone, &sample->capacity.gone, sample->n_gone);
        util_shrink(&sample->bursts, &sample->capacity.bursts, sample->n_bursts);
        util_shrink(&sample->counted, &sample->capacity.counted, sample->n_counted);
        if (!util_shrink(&sample->processes, &sample->capacity.processes, sample->n_processes))
                return;
        free(TAKE_PTR(sample->cpu_opps));
        sample->capacity.cpu_opps = 0;
}

void sample_reset(struct sample *sample)
{
        struct sample kept;

        shrink(sample);
        kept = (struct sample){
                .opps = sample->opps,
                .cores = sample->cores,
                .events = sample->events,
                .processes = sample->processes,
                .capacity = sample->capacity,
                .cpu_opps = sample->cpu_opps,
                .gone = sample->gone,
                .bursts = sample->bursts,
                .counted = sample->counted,
                .shown_by = sample->shown_by,
                .shown_poll = sample->shown_poll,
                .taken = sample->taken,
        };

        *sample = kept;
}

void sample_clear(struct sample *sample)
{
        sample_reset(sample);
        free(sample->opps);
        free(sample->cores);
        free(sample->events);
        free(sample->processes);
        free(sample->cpu_opps);
        free(sample->gone);
        free(sample->bursts);
        free(sample->counted);
        *sample = (struct sample){ 0 };
}

/* Rows of operating points for all processes that the array has room for; those that there are move along. */
static int grow_cpu_opps(struct sample *sample)
{
        int err = util_grow(&sample->cpu_opps, &sample->capacity.cpu_opps,
                            sample->capacity.processes * sample->n_opps, sizeof(uint64_t));

        for (size_t i = 0; !err && i < sample->n_processes; i++)
                if (sample->processes[i].cpu_opp_ns)
                        sample->processes[i].cpu_opp_ns = sample->cpu_opps + i * sample->n_opps;
        return err;
}

struct process *sample_add_process(struct sample *sample, bool opps)
{
        struct process *process;
        size_t at = sample->n_processes;

        opps = opps && sample->n_opps > 0;
        if (util_grow(&sample->processes, &sample->capacity.processes, at + 1, sizeof(*sample->processes)) < 0)
                return NULL;
        if (opps && sample->capacity.cpu_opps < sample->capacity.processes * sample->n_opps &&
            grow_cpu_opps(sample) < 0)
                return NULL;
        sample->n_processes++;
        process = &sample->processes[at];
        memset(process, 0, sizeof(*process));
        if (opps) {
                process->cpu_opp_ns = sample->cpu_opps + at * sample->n_opps;
                memset(process->cpu_opp_ns, 0, sample->n_opps * sizeof(uint64_t));
        }
        return process;
}

int sample_add_gone(struct sample *sample, pid_t pid, uint64_t start_time)
{
        int err = util_grow(&sample->gone, &sample->capacity.gone, sample->n_gone + 1, sizeof(*sample->gone));

        if (!err)
                sample->gone[sample->n_gone++] = (struct process_id){ pid, start_time };
        return err;
}

struct screen_event *sample_add_event(struct sample *sample)
{
        if (util_grow(&sample->events, &sample->capacity.events, sample->n_events + 1,
                      sizeof(*sample->events)) < 0)
                return NULL;
        return memset(&sample->events[sample->n_events++], 0, sizeof(*sample->events));
}

struct process_burst *sample_add_burst(struct sample *sample)
{
        if (util_grow(&sample->bursts, &sample->capacity.bursts, sample->n_bursts + 1, sizeof(*sample->bursts)) < 0)
                return NULL;
        return memset(&sample->bursts[sample->n_bursts++], 0, sizeof(*sample->bursts));
}

struct process_counted *sample_add_counted(struct sample *sample)
{
        if (util_grow(&sample->counted, &sample->capacity.counted, sample->n_counted + 1, sizeof(*sample->counted)) < 0)
                return NULL;
        return memset(&sample->counted[sample->n_counted++], 0, sizeof(*sample->counted));
}

struct opp *sample_add_opp(struct sample *sample)
{
        if (util_grow(&sample->opps, &sample->capacity.opps, sample->n_opps + 1, sizeof(*sample->opps)) < 0)
                return NULL;
        return memset(&sample->opps[sample->n_opps++], 0, sizeof(*sample->opps));
}

struct core *sample_add_core(struct sample *sample)
{
        if (util_grow(&sample->cores, &sample->capacity.cores, sample->n_cores + 1, sizeof(*sample->cores)) < 0)
                return NULL;
        return memset(&sample->cores[sample->n_cores++], 0, sizeof(*sample->cores));
}
