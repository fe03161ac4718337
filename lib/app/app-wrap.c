/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Wrappers: programs that run another one as their child, and belong to it. */

#include "app-private.h"
#include "util/util.h"

const struct app_entry *app_above_wrappers(const struct apps *apps, const struct app_entry *parent)
{
        for (int i = 0; i < ANCESTORS_MAX && parent && parent->lead == LEAD_WRAPPER && parent->cgroup; i++) {
                const struct app_entry *up = app_entry_find(apps, parent->ppid);

                if (!up || !up->cgroup || up->start_time > parent->start_time)
                        return app_unit_decides(parent->cgroup) ? parent : NULL;
                parent = up;
        }
        return parent;
}

/* Is the program with these words, and the words that follow them, among the arguments of @words? */
static bool has_command(const char *words, ssize_t length, const char *command, ssize_t command_length)
{
        const char *end = words + length, *name = util_base_name(command);

        for (const char *word = words + strlen(words) + 1; word < end; word += strlen(word) + 1) {
                const char *a = word, *b = command;

                if (strcmp(word, command) != 0 && (command[0] != '/' || strcmp(word, name) != 0))
                        continue;
                do {
                        a += strlen(a) + 1;
                        b += strlen(b) + 1;
                } while (a < end && b < command + command_length && strcmp(a, b) == 0);
                if (a >= end || b >= command + command_length)
                        return true;
        }
        return false;
}

void app_ask_wrapper(const struct apps *apps, const struct app_entry *child, struct app_entry *parent)
{
        char words[8192], command[4096], name[APP_ID_MAX];
        ssize_t length, command_length;
        const char *at;

        if (!parent || parent->asked || parent->lead != LEAD_NOT || parent->own || parent->pid == 1)
                return;
        parent->asked = true;
        length = app_process_read_words(apps->root_fd, parent->pid, "cmdline", words, sizeof(words));
        app_command_name(child->comm, name, sizeof(name));
        if (length <= 0 || !memmem(words, (size_t)length, name, strlen(name)))
                return;
        command_length = app_process_read_words(apps->root_fd, child->pid, "cmdline", command, sizeof(command));
        for (at = command; at < command + command_length && strncmp(util_base_name(at), name, strlen(name)) != 0;)
                at += strlen(at) + 1; /* a script stands behind its interpreter */
        parent->wraps = at < command + command_length &&
                        has_command(words, length, at, command + command_length - at);
        if (parent->wraps)
                parent->lead = LEAD_WRAPPER;
}

/* Wrappers belong to the first app that they start. */
static void adopt(const struct apps *apps, const struct app_entry *child, struct app_entry *parent)
{
        for (int i = 0; i < ANCESTORS_MAX && parent && parent->lead == LEAD_WRAPPER && !parent->adopted &&
             parent->cgroup; i++) {
                if (child->lead == LEAD_WRAPPER || app_unit_decides(parent->cgroup))
                        return;
                app_set(parent, child->app);
                parent->adopted = true;
                parent = app_entry_find(apps, parent->ppid);
        }
}

void app_adopt(const struct apps *apps, struct app_entry *entry, struct app_entry *parent)
{
        for (const struct app_entry *at = apps->entries; entry->lead == LEAD_WRAPPER && at; at = at->hh.next)
                if (at->ppid == entry->pid && at->looks && at->cgroup && at->start_time >= entry->start_time)
                        adopt(apps, at, entry);
        adopt(apps, entry, parent);
}
