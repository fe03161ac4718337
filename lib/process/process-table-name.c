/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Finds the app of a process in the table. */

#include <stdio.h>
#include <string.h>

#include "process-table-private.h"
#include "source/proc.h"
#include "util/tuning.h"
#include "util/util.h"

static struct known_name *name_of(const struct process_table *table, const char *comm, uid_t uid)
{
        uint32_t hash = uid * UINT32_C(2654435761) + UINT32_C(2166136261);

        for (; *comm; comm++)
                hash = (hash ^ (unsigned char)*comm) * UINT32_C(16777619);
        return &table->names[(hash ^ hash >> 15) % NAMES];
}

static void remember_name(struct known_name *name, const struct known *known, uint64_t poll)
{
        memcpy(name->comm, known->comm, sizeof(name->comm));
        memcpy(name->app, known->app, sizeof(name->app));
        name->uid = known->uid;
        name->poll = poll;
}

/* Returns whether the app changed. A window may have corrected it since the last poll. */
bool table_find_app(struct process_table *table, struct known *known)
{
        const struct app_process process = {
                .pid = known->pid,
                .ppid = known->ppid,
                .start_time = known->start_ns / START_TICK_NS,
                .uid = known->uid,
                .comm = known->comm,
        };
        char app[APP_ID_MAX];

        if (!table->apps || apps_find(table->apps, &process, app) < 0 || strcmp(app, known->app) == 0)
                return false;
        memcpy(known->app, app, sizeof(known->app));
        if (known->comm[0])
                remember_name(name_of(table, known->comm, known->uid), known, 0);
        return true;
}

static pid_t read_ppid(const struct process_table *table, const char *pid)
{
        char path[32], text[1024];
        struct proc_stat stat;
        ssize_t n;

        snprintf(path, sizeof(path), "%s/stat", pid);
        n = util_read_at(table->proc_fd, path, text, sizeof(text));
        return n > 0 && proc_parse_stat(text, (size_t)n, &stat) ? stat.parent : 0;
}

/* Sets the app of a living process; again when an exec changes its name. */
int table_name_alive(struct process_table *table, struct known *known, const struct process_seen *seen)
{
        char pid[16];
        int err = 0;

        memset(known->comm, 0, sizeof(known->comm));
        snprintf(known->comm, sizeof(known->comm), "%s", seen->comm);
        snprintf(pid, sizeof(pid), "%d", (int)seen->pid);
        if (seen->kernel_thread) {
                strcpy(known->app, "sys:kernel"); /* also where /proc hides it */
        } else if (table->apps) {
                known->ppid = seen->ppid > 0 ? seen->ppid : read_ppid(table, pid);
                table_find_app(table, known);
                if (known->young == 0)
                        err = table_list_add(&table->young, known);
                known->young = POLLS_YOUNG;
        } else {
                app_program_of(table->proc_fd, pid, known->comm, NULL, known->app, sizeof(known->app));
        }
        remember_name(name_of(table, known->comm, known->uid), known, 0);
        return err ? err : table_touch(table, known);
}

static bool find_namesake(const struct process_table *table, struct known *known, uid_t uid)
{
        for (size_t i = 0; i < table->all.n; i++) {
                const struct known *other = table->all.list[i];

                if (other != known && other->named && other->ended_ns == 0 && other->uid == uid &&
                    strcmp(other->comm, known->comm) == 0) {
                        memcpy(known->app, other->app, sizeof(known->app));
                        return true;
                }
        }
        return false;
}

static bool find_by_group(const struct process_table *table, struct known *known,
                          const struct process_seen *seen)
{
        const struct app_process process = {
                .pid = known->pid,
                .ppid = seen->ppid,
                .start_time = known->start_ns / START_TICK_NS,
                .uid = seen->uid,
                .comm = known->comm,
        };

        if (!table->apps)
                return false;
        if (seen->kernel_thread)
                strcpy(known->app, "sys:kernel");
        return seen->kernel_thread || apps_find_ended(table->apps, &process, seen->cgroup, known->app) == 0;
}

/*
 * Sets the app of a process that was never seen alive: its /proc entry is gone or belongs to another process.
 * If control group and parent do not show the app, the app of a process with the same name and user is the
 * best guess, since programs run repeatedly; else the app is the name.
 */
void table_name_ended(struct process_table *table, struct known *known, const struct process_seen *seen)
{
        struct known_name *name;
        bool found;

        snprintf(known->comm, sizeof(known->comm), "%s", seen->comm);
        if (seen->others) {
                strcpy(known->app, TUNING_OTHER_APPS);
                return;
        }
        if (find_by_group(table, known, seen))
                return;
        name = name_of(table, known->comm, seen->uid);
        if (name->app[0] && (name->poll == 0 || name->poll == table->poll) && name->uid == seen->uid &&
            strcmp(name->comm, known->comm) == 0) {
                memcpy(known->app, name->app, sizeof(known->app));
                return;
        }
        found = find_namesake(table, known, seen->uid);
        if (!found)
                util_printable(known->comm, known->app, sizeof(known->app));
        if (known->app[0] == '\0')
                snprintf(known->app, sizeof(known->app), "unnamed");
        remember_name(name, known, found ? 0 : table->poll);
}
