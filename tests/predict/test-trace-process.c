/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `joulecast trace --by process`: processes of one app are rows of their own, and the screen stays the app's. */

#include "interval-fixture.h"
#include "trace-process.h"
#include "util/util.h"

static void add(struct fixture *f, pid_t pid, const char *comm, const char *app, uint64_t cpu_ns)
{
        strcpy(process(&f->sample, pid, 1, app, cpu_ns)->comm, comm);
}

static void take(struct fixture *f, double seconds, uint64_t cpu_ns, const char *with_screen)
{
        after(f, seconds);
        screen(&f->sample, with_screen, true, 100);
        add(f, 7, "main", "browser", cpu_ns);
        add(f, 8, "tab \033", "browser", 2 * cpu_ns);
        add(f, 9, "cron", "cron", cpu_ns);
}

static void each_is_a_row(void)
{
        _cleanup_(trace_processes_clear) struct trace_processes processes = { 0 };
        struct fixture f;

        setup(&f);
        take(&f, 0, 0, "browser");
        check_int(trace_processes_name(&processes, &f.sample), 0);
        poll(&f);
        take(&f, 10, 2 * S, "browser");
        check_int(trace_processes_name(&processes, &f.sample), 0);
        check_int(poll(&f), 0);
        trace_processes_states(&processes, &f.interval);
        check_int(usage_busy_ns(&row(&f, "7 main", STATE_FOREGROUND)->usage), 2 * S);
        check_int(usage_busy_ns(&row(&f, "8 tab ?", STATE_FOREGROUND)->usage), 4 * S);
        check_int(usage_busy_ns(&row(&f, "9 cron", STATE_BACKGROUND)->usage), 2 * S);
        check_int(usage_screen_ns(&row(&f, "browser", STATE_FOREGROUND)->usage), 10 * S);
        check_text(trace_process_find(&processes, "8 tab ?")->app, "browser");
        check_int(trace_process_find(&processes, "9 cron")->pid, 9);
        check(!trace_process_find(&processes, "browser"));
        check(!trace_process_find(&processes, "9 cronie"));
        check(!trace_process_find(NULL, "9 cron"));
        teardown(&f);
}

int main(void)
{
        each_is_a_row();
        return check_result();
}
