/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The CPU's hardware counters: which ones can be opened, who holds the others, and the loss without them. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"
#include "source/proc.h"
#include "util/config.h"
#include "util/util.h"
#include "util/words.h"

#define EVENT_LINK "anon_inode:[perf_event]"
#define SERVICE "joulecastd" /* the kernel keeps its events open, not a descriptor */

static void add_holder(struct counters *counters, const char *name, int pid)
{
        size_t length = strlen(counters->holders);
        char printable[64];

        snprintf(counters->holders + length, sizeof(counters->holders) - length, pid ? "%s%s (%d)" : "%s%s",
                 length ? ", " : "", util_printable(name, printable, sizeof(printable)), pid);
}

/* Only root can look at other users. */
static bool has_event(int proc_fd, int pid)
{
        char path[32], link[64];
        _cleanup_closedir_ DIR *dir = NULL;
        const struct dirent *entry;

        snprintf(path, sizeof(path), "%d/fd", pid);
        dir = util_opendir_at(proc_fd, path);
        while (dir && (entry = readdir(dir))) {
                ssize_t length = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link));

                if (length == (ssize_t)strlen(EVENT_LINK) && strncmp(link, EVENT_LINK, strlen(EVENT_LINK)) == 0)
                        return true;
        }
        return false;
}

static void look_at_process(int proc_fd, int pid, struct counters *counters)
{
        struct proc_stat stat;
        char path[32], text[1024];
        ssize_t length;

        snprintf(path, sizeof(path), "%d/stat", pid);
        length = util_read_at(proc_fd, path, text, sizeof(text));
        if (length > 0 && proc_parse_stat(text, (size_t)length, &stat) &&
            (strcmp(stat.comm, SERVICE) == 0 || has_event(proc_fd, pid)))
                add_holder(counters, stat.comm, pid);
}

static void find_holders(int root_fd, struct counters *counters)
{
        _cleanup_close_ int proc_fd = openat(root_fd, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        _cleanup_closedir_ DIR *dir = util_opendir_at(proc_fd, ".");
        const struct dirent *entry;
        char text[16];

        if (util_read_at(proc_fd, "sys/kernel/nmi_watchdog", text, sizeof(text)) > 0 && *text == '1')
                add_holder(counters, "kernel.nmi_watchdog", 0);
        while (dir && (entry = readdir(dir))) {
                int pid = atoi(entry->d_name);

                if (pid > 0 && pid != getpid())
                        look_at_process(proc_fd, pid, counters);
        }
}

void doctor_look_at_counters(int root_fd, const struct options *options, struct findings *findings)
{
        struct counters *counters = &findings->counters;
        struct process_counters found = { .err = -ENOENT };

        counters->allowed = true;
        if (options->machine)
                return;
        counters->known = true;
        doctor_saw(findings, config_read_counters(&counters->allowed));
        for (const struct collector *c = all_collectors; counters->allowed && c->name && found.n == 0; c++)
                if (c->try_counters)
                        c->try_counters(false, &found);
        counters->n = found.n;
        counters->err = found.err;
        snprintf(counters->misses, sizeof(counters->misses), "%s", found.misses ? found.misses : "");
        find_holders(root_fd, counters);
}

/* Why the next counter cannot be had. */
static void explain(int root_fd, const struct counters *counters, char *buf, size_t size)
{
        char paranoid[16] = "?";

        if (counters->err == -EACCES || counters->err == -EPERM) {
                util_read_at(root_fd, "proc/sys/kernel/perf_event_paranoid", paranoid, sizeof(paranoid));
                paranoid[strcspn(paranoid, "\n")] = '\0';
                snprintf(buf, size, _("root may open it (kernel.perf_event_paranoid is %s)"), paranoid);
        } else if (counters->err == -EBUSY && counters->holders[0]) {
                snprintf(buf, size, _("others hold the counters of the CPU: %s"), counters->holders);
        } else if (counters->err == -EBUSY) {
                snprintf(buf, size, "%s", _("others hold the counters of the CPU; root can see who"));
        } else {
                snprintf(buf, size, "%s",
                         _("the kernel shows no such counter (a virtual machine, or no driver of it)"));
        }
}

void doctor_miss_counters(int root_fd, uint32_t counts, struct findings *findings)
{
        static const char *const kind = N_("kind of work");
        const char *lost = _("CPU time is priced as usual work, with wider intervals");
        const struct counters *counters = &findings->counters;
        char why[384];

        if (!counters->known || (counts & COUNTS_MISSES))
                return;
        explain(root_fd, counters, why, sizeof(why));
        if (!counters->allowed)
                doctor_miss(findings, kind,
                            "counters = no in joulecast.conf leaves the counters of the CPU to perf: %s; frequencies "
                            "that only cycles tell are unknown", lost);
        else if (counters->n <= COUNTED_INSTRUCTIONS)
                doctor_miss(findings, kind, _("%s: %s"), why, lost);
        else if (!(counts & COUNTS_KINDS))
                doctor_miss(findings, kind,
                            "only the collector bpf counts it, where it knows CPU time by frequency: %s", lost);
        else
                doctor_miss(findings, N_("cache events"),
                            "%s: what only misses the caches is priced by its instructions, with wider intervals", why);
}
