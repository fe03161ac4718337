/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace-process.h"

#include <stdlib.h>
#include <string.h>

#include "util/util.h"

int trace_processes_name(struct trace_processes *processes, struct sample *sample)
{
        int err = util_grow(&processes->list, &processes->capacity, sample->n_processes, sizeof(*processes->list));
        char comm[sizeof(processes->list->comm)];

        if (err < 0)
                return err;
        for (size_t i = 0; i < sample->n_processes; i++) {
                struct process *process = &sample->processes[i];
                struct trace_process *known = &processes->list[i];

                known->pid = process->pid;
                snprintf(known->comm, sizeof(known->comm), "%s", util_printable(process->comm, comm, sizeof(comm)));
                snprintf(known->app, sizeof(known->app), "%s", process->app);
                snprintf(process->app, sizeof(process->app), "%d %s", (int)process->pid, known->comm);
        }
        processes->n = sample->n_processes;
        return 0;
}

static int by_pid(const void *key, const void *element)
{
        pid_t pid = *(const pid_t *)key, other = ((const struct trace_process *)element)->pid;

        return pid < other ? -1 : pid > other;
}

const struct trace_process *trace_process_find(const struct trace_processes *processes, const char *id)
{
        const struct trace_process *found;
        char expected[APP_ID_MAX];
        pid_t pid = atoi(id);

        if (!processes || processes->n == 0)
                return NULL;
        found = bsearch(&pid, processes->list, processes->n, sizeof(*processes->list), by_pid);
        if (!found)
                return NULL;
        snprintf(expected, sizeof(expected), "%d %s", (int)found->pid, found->comm);
        return strcmp(expected, id) == 0 ? found : NULL;
}

static bool has_screen(const struct interval *interval, const char *app)
{
        for (size_t i = 1; i < interval->n_rows; i++)
                if (interval->rows[i].state == STATE_FOREGROUND && strcmp(interval->rows[i].app, app) == 0)
                        return true;
        return false;
}

void trace_processes_states(const struct trace_processes *processes, struct interval *interval)
{
        for (size_t i = 1; i < interval->n_rows; i++) { /* the base is the first */
                const struct trace_process *process = trace_process_find(processes, interval->rows[i].app);

                if (process && has_screen(interval, process->app))
                        interval->rows[i].state = STATE_FOREGROUND;
        }
}

void trace_processes_clear(struct trace_processes *processes)
{
        free(processes->list);
        *processes = (struct trace_processes){ 0 };
}
