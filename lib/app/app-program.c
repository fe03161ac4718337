/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app-private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "util/util.h"

#define WORDS_MAX 32768 /* class paths of Java are long, and its class stands behind them */

static bool is_named_as(const char *comm, const char *name)
{
        return *name && strncmp(comm, name, COMM_LENGTH) == 0;
}

/* Path of the executable file ("exe"), or its name alone, or of the working folder ("cwd"); "": not known. */
static void read_place(int proc_fd, const char *pid, const char *link, const struct app_exe *exe, char *ret)
{
        char path[48], target[PATH_MAX], *mark;
        ssize_t n;

        snprintf(path, sizeof(path), "%s/%s", pid, link);
        n = readlinkat(proc_fd, path, target, sizeof(target) - 1);
        target[n > 0 ? n : 0] = '\0';
        if (n < 0 && (errno == EACCES || errno == EPERM) && exe && exe->find &&
            !exe->find(exe->data, (pid_t)atoi(util_base_name(pid)), target, sizeof(target)))
                target[0] = '\0';
        mark = app_before(target, " (deleted)"); /* a file that was replaced by an update */
        if (mark)
                *mark = '\0';
        if (strlen(target) >= APP_PROGRAM_MAX)
                memmove(target, util_base_name(target), strlen(util_base_name(target)) + 1);
        snprintf(ret, APP_PROGRAM_MAX, "%.*s", APP_PROGRAM_MAX - 1, target);
}

/* The file that an AppImage was started from, as its mount's place is another each time. */
static void read_image(int proc_fd, const char *pid, char *ret)
{
        char path[48], words[16384];
        const char *image;
        ssize_t n;

        snprintf(path, sizeof(path), "%s/environ", pid);
        n = app_words_read(proc_fd, path, words, sizeof(words));
        image = n > 0 ? app_process_words_value(words, n, "APPIMAGE") : NULL;
        if (image && *util_base_name(image))
                snprintf(ret, APP_PROGRAM_MAX, "%s", util_base_name(image));
}

static bool is_led_as(const char *path, enum app_lead lead)
{
        const struct lead_line *line = lead_find(util_base_name(path));

        return line && line->lead == lead;
}

static bool names_no_app(const char *path)
{
        return is_led_as(path, LEAD_INTERPRETER) || is_led_as(path, LEAD_SHELL);
}

/* Finds an app that brings its own runtime, unless the runtime runs a file outside of the app's folder. */
static void find_bundle(struct app_program *program, const char *argv)
{
        const char *runtime = *program->exe == '/' ? program->exe : argv, *own = program->command.own;
        size_t length = *runtime == '/' && is_led_as(runtime, LEAD_INTERPRETER) &&
                        is_led_as(argv, LEAD_INTERPRETER) ? app_command_bundle(runtime) : 0;

        program->bundled = length > 0 && !app_command_is_windows(program->path) &&
                           (*own != '/' || (strncmp(own, runtime, length) == 0 && own[length] == '/'));
        if (program->bundled)
                snprintf(program->path, sizeof(program->path), "%.*s", (int)length, runtime);
}

/* "npm exec vite", "node (vitest 1)", "puma 6.4.0 (tcp://0.0.0.0:3000)": in place of all arguments. */
static bool is_title(const char *words, ssize_t length)
{
        return strcspn(words, " ") < strcspn(words, "/\\:") &&
               strnlen(words, (size_t)length) + 1 >= (size_t)length;
}

/* A process may change argv and comm, and the kernel cuts comm: the first of these that is credible. */
static const char *choose(const struct app_program *program, const char *argv, const char *comm)
{
        if (app_command_is_windows(argv) && strchr(argv, '\\'))
                return argv;
        if (app_command_is_windows(comm) && !program->command.interpreted)
                return comm;
        if (program->command.interpreted)
                return program->command.own;
        if (!app_command_is_unnamed(argv) &&
            (is_named_as(comm, util_base_name(argv)) || (is_named_as(comm, argv) && !strchr(argv, '/'))))
                return strcmp(util_base_name(argv), util_base_name(program->exe)) ? argv : program->exe; /* "./run" */
        if (*program->exe && !names_no_app(program->exe))
                return program->exe;
        return *program->exe && *argv && !names_no_app(argv) ? argv : comm; /* Java as "bazel(folder)" */
}

/* A title in place of the arguments names no program: then the process's own name decides what it is. */
static void set_lead(struct app_program *program, const char *comm)
{
        struct app_command *command = &program->command;
        const struct lead_line *line = command->line;

        if (program->alone) {
                command->line = NULL;
                command->lead = LEAD_NOT;
        } else if (!line && !command->interpreted) {
                line = lead_find(util_base_name(program->path));
                command->line = line ? line : lead_find_comm(comm);
                command->lead = command->line ? command->line->lead : LEAD_NOT;
        }
}

static void read_program(int proc_fd, const char *pid, const char *comm, const struct app_exe *exe,
                         struct app_program *ret)
{
        char path[48], words[WORDS_MAX];
        size_t used;
        ssize_t n;
        bool title;

        *ret = (struct app_program){ 0 };
        snprintf(path, sizeof(path), "%s/cmdline", pid);
        n = app_words_read(proc_fd, path, words, sizeof(words));
        if (n <= 0)
                words[n = 0] = '\0';
        read_place(proc_fd, pid, "exe", exe, ret->exe);
        if (strncmp(ret->exe, "/memfd:", 7) == 0) /* a copy in memory, as runc runs one of itself: no file names it */
                snprintf(ret->exe, sizeof(ret->exe), "%s", *words ? words : comm);
        title = is_title(words, n) && *ret->exe && names_no_app(ret->exe);
        for (char *at = words; title && at < words + n; at++)
                if (strchr(" ()[]", *at))
                        *at = '\0';
        app_command_parse(words, (size_t)n, &ret->command);
        if (ret->command.interpreted && *ret->command.own != '/' && !strchr(ret->command.own, ':')) /* "./start.sh" */
                read_place(proc_fd, pid, "cwd", NULL, ret->path);
        used = strlen(ret->path);
        snprintf(ret->path + used, APP_PROGRAM_MAX - used, "%s%.*s", used ? "/" : "", (int)(APP_PROGRAM_MAX - used),
                 title && !ret->command.interpreted ? words : choose(ret, words, comm));
        ret->alone = app_command_is_windows(ret->path) || (ret->command.interpreted && strncmp(util_base_name(words),
                                                                                   "java", 4) == 0);
        if (strstr(ret->exe, "/.mount_") || strstr(ret->exe, "/appimage_extracted_"))
                read_image(proc_fd, pid, ret->path);
        set_lead(ret, comm);
        find_bundle(ret, words);
        if (ret->bundled)
                app_command_bundle_name(ret->path, ret->name, sizeof(ret->name));
        else
                app_command_name(ret->command.lead == LEAD_WRAPPER &&
                         *ret->command.runs ? ret->command.runs : ret->path, ret->name,
                         sizeof(ret->name));
}

void app_program_of(int proc_fd, const char *pid, const char *comm, const struct app_exe *exe, char *name,
                    size_t size)
{
        struct app_program program;

        read_program(proc_fd, pid, comm, exe, &program);
        snprintf(name, size, "%s", program.name);
}

void app_program_read(const struct apps *apps, const struct app_entry *entry, struct app_program *ret)
{
        char pid[32];

        snprintf(pid, sizeof(pid), "proc/%d", (int)entry->pid);
        read_program(apps->root_fd, pid, entry->comm, &apps->exe, ret);
}

enum app_lead app_lead_of(const struct apps *apps, const struct app_entry *entry)
{
        const struct lead_line *line = lead_find_comm(entry->comm);
        enum app_lead lead = entry->pid == 1 ? LEAD_SESSION : line ? line->lead : LEAD_NOT;
        const struct desktop_entry *known;
        struct app_program program;

        known = line || lead != LEAD_NOT ? NULL : desktop_by_program(apps->index, entry->comm);
        if (known && known->terminal) /* a terminal that the table does not list */
                return LEAD_TERMINAL;
        if (lead != LEAD_SHELL && lead != LEAD_INTERPRETER && entry->comm[0] != '.' &&
            !(lead == LEAD_WRAPPER && lead_needs_word(line)))
                return lead;
        app_program_read(apps, entry, &program);
        return program.command.lead;
}
