/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sample.h"

#include <string.h>

#include "util.h"

void sample_reset(struct sample *sample)
{
        struct sample kept = {
                .opps = sample->opps,
                .cores = sample->cores,
                .events = sample->events,
                .processes = sample->processes,
                .capacity = sample->capacity,
        };

        for (size_t i = 0; i < sample->n_processes; i++)
                free(sample->processes[i].cpu_opp_ns);
        *sample = kept;
}

void sample_clear(struct sample *sample)
{
        sample_reset(sample);
        free(sample->opps);
        free(sample->cores);
        free(sample->events);
        free(sample->processes);
        *sample = (struct sample){ 0 };
}

struct process *sample_add_process(struct sample *sample, bool opps)
{
        struct process *process;
        uint64_t *cpu_opp_ns = NULL;

        if (util_grow(&sample->processes, &sample->capacity.processes, sample->n_processes + 1,
                      sizeof(*sample->processes)) < 0)
                return NULL;
        if (opps && sample->n_opps > 0) {
                cpu_opp_ns = calloc(sample->n_opps, sizeof(*cpu_opp_ns));
                if (!cpu_opp_ns)
                        return NULL;
        }
        process = &sample->processes[sample->n_processes++];
        memset(process, 0, sizeof(*process));
        process->cpu_opp_ns = cpu_opp_ns;
        return process;
}

struct screen_event *sample_add_event(struct sample *sample)
{
        if (util_grow(&sample->events, &sample->capacity.events, sample->n_events + 1,
                      sizeof(*sample->events)) < 0)
                return NULL;
        return memset(&sample->events[sample->n_events++], 0, sizeof(*sample->events));
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
