/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The apps of tables of processes, given as arguments. Lines, with tabs between the columns:
 *   D ID Exec Categories                          a desktop entry; categories may be missing
 *   L PATH TARGET                                 a symbolic link
 *   F PATH TEXT                                   a file
 *   P pid ppid app comm cgroup exe words environ flatpak
 *                                                 a process and the app that it is; "-": none; words end at '|'
 *   E ppid app cgroup                             a process that ended unseen; "-": nothing tells
 *   N app name                                    the name that people see; "\\n" in an F line is a line's end
 * "U/" in a cgroup is that of the user's service manager.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "app/app-private.h"
#include "check.h"
#include "tree.h"
#include "util/util.h"

#define USER "/user.slice/user-1000.slice/user@1000.service/"
#define COLUMNS 10

static char folder[64], none[] = "-";

struct row {
        char kind;
        pid_t pid, ppid;
        char app[APP_ID_MAX], comm[32], cgroup[512];
};

static void put(const char *path, const char *text, size_t length)
{
        check(tree_write(folder, path, text, length));
}

static void put_words(pid_t pid, const char *file, char *words)
{
        char path[64];
        size_t length = strcmp(words, "-") == 0 ? 0 : strlen(words) + 1;

        for (char *at = words; *at; at++)
                if (*at == '|')
                        *at = '\0';
        snprintf(path, sizeof(path), "proc/%d/%s", (int)pid, file);
        put(path, words, length);
}

static void put_link(const char *path, const char *target)
{
        char full[600];

        snprintf(full, sizeof(full), "%s/%s", folder, path);
        check_int(util_make_parent(full, 0755), 0);
        check_int(symlink(target, full), 0);
}

static void put_sandbox(pid_t pid, const char *id)
{
        static const char mounts[] = "1 0 0:5 / / rw - tmpfs tmpfs rw\n2 1 0:6 /x /.flatpak-info ro - tmpfs tmpfs ro\n";
        char path[128], text[256];

        snprintf(path, sizeof(path), "proc/%d/mountinfo", (int)pid);
        put(path, mounts, strlen(mounts));
        snprintf(path, sizeof(path), "proc/%d/ns/mnt", (int)pid);
        put_link(path, "mnt:[4026532000]");
        snprintf(path, sizeof(path), "proc/%d/root/.flatpak-info", (int)pid);
        snprintf(text, sizeof(text), "[Application]\nname=%s\n", id);
        put(path, text, strlen(text));
}

static void put_process(const struct row *row, char *const column[])
{
        char path[128], text[1024];

        snprintf(path, sizeof(path), "proc/%d/stat", (int)row->pid);
        snprintf(text, sizeof(text), "%d (%s) S %d 1 1 0 -1 0 0 0 0 0 5 5 0 0 20 0 1 0 %d 0 0\n",
                 (int)row->pid, row->comm,
                 (int)row->ppid, (int)row->pid * 10);
        put(path, text, strlen(text));
        snprintf(path, sizeof(path), "proc/%d/cgroup", (int)row->pid);
        snprintf(text, sizeof(text), "0::%s\n", row->cgroup);
        put(path, text, strlen(text));
        put_words(row->pid, "cmdline", column[7]);
        put_words(row->pid, "environ", column[8]);
        snprintf(path, sizeof(path), "proc/%d/exe", (int)row->pid);
        if (strcmp(column[6], "-") != 0)
                put_link(path, column[6]);
        if (strcmp(column[9], "-") != 0)
                put_sandbox(row->pid, column[9]);
        snprintf(path, sizeof(path), "%s/proc/%d", folder, (int)row->pid);
        check(geteuid() != 0 || chown(path, row->pid < 50 ? 0 : 1000, 0) == 0);
}

static void set_cgroup(struct row *row, const char *text)
{
        snprintf(row->cgroup, sizeof(row->cgroup), "%s%s", strncmp(text, "U/", 2) == 0 ? USER : "",
                 text + (strncmp(text, "U/", 2) == 0 ? 2 : 0));
}

static bool read_line(char *line, struct row *row)
{
        char *column[COLUMNS], text[1024], path[256];
        size_t n = 0;

        line[strcspn(line, "\n")] = '\0';
        while (n < COLUMNS && (column[n] = strsep(&line, "\t")))
                n++;
        while (n < COLUMNS)
                column[n++] = none;
        *row = (struct row){ .kind = column[0][0] };
        if (row->kind == 'D') {
                snprintf(path, sizeof(path), "usr/share/applications/%s.desktop", column[1]);
                snprintf(text, sizeof(text),
                         "[Desktop Entry]\nType=Application\nName=%s\nExec=%s\nCategories=%s\n", column[1],
                         column[2], column[3]);
                put(path, text, strlen(text));
        } else if (row->kind == 'L') {
                put_link(column[1], column[2]);
        } else if (row->kind == 'F') {
                for (char *at = column[2]; (at = strstr(at, "\\n"));)
                        memcpy(at, " \n", 2);
                put(column[1], column[2], strlen(column[2]));
        } else if (row->kind == 'P') {
                row->pid = atoi(column[1]);
                row->ppid = atoi(column[2]);
                snprintf(row->app, sizeof(row->app), "%s", column[3]);
                snprintf(row->comm, sizeof(row->comm), "%.15s", column[4]);
                set_cgroup(row, column[5]);
                put_process(row, column);
        } else if (row->kind == 'E') {
                row->ppid = atoi(column[1]);
                snprintf(row->app, sizeof(row->app), "%s", column[2]);
                set_cgroup(row, column[3]);
        } else if (row->kind == 'N') {
                snprintf(row->app, sizeof(row->app), "%s", column[2]);
                snprintf(row->cgroup, sizeof(row->cgroup), "%s", column[1]);
        }
        return row->kind == 'P' || row->kind == 'E' || row->kind == 'N';
}

static void check_row(struct apps *apps, const struct row *row, const char *table, bool last)
{
        const struct app_process alive = { row->pid, row->ppid, (uint64_t)row->pid * 10, 1000, row->comm };
        const struct app_process ended = { 99999, row->ppid, 999990, 1000, "x" };
        char app[APP_ID_MAX] = "-";

        if (row->kind == 'P')
                check_int(apps_find(apps, &alive, app), 0);
        else if (last && row->kind == 'E')
                apps_find_ended(apps, &ended, row->cgroup, app);
        else if (last)
                app_name(app_index(apps), row->cgroup, app, sizeof(app));
        if (!last)
                return;
        if (strcmp(app, row->app) != 0)
                fprintf(stderr, "%s: process %d (%s):\n", util_base_name(table), (int)row->pid, row->comm);
        check_text(app, row->app);
}

/* Processes that are looked at again, as after a window's correction, are the same apps. */
static void check_again(struct apps *apps, const struct row *rows, size_t n, const char *table)
{
        for (size_t i = 0; i < n; i++) {
                const struct app_entry *entry = rows[i].kind == 'P' ? app_entry_find(apps, rows[i].pid) : NULL;

                if (entry)
                        app_look_again(apps, entry);
        }
        for (size_t i = n; i-- > 0;)
                check_row(apps, &rows[i], table, true);
}

static void check_table(const char *table)
{
        static struct row rows[4096];
        struct apps *apps = NULL;
        char line[2048];
        size_t n = 0;
        FILE *file = fopen(table, "re");
        _cleanup_close_ int root_fd = -1;

        snprintf(folder, sizeof(folder), "/tmp/joulecast-apps-XXXXXX");
        check(file && mkdtemp(folder));
        while (file && n < ARRAY_SIZE(rows) && fgets(line, sizeof(line), file))
                n += *line != '#' && *line != '\n' && read_line(line, &rows[n]);
        if (file)
                fclose(file);
        check(n > 0);
        root_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        check_int(apps_new(root_fd, NULL, &apps), 0);
        for (int pass = 0; pass < 3; pass++) {
                for (size_t i = 0; i < n; i++)
                        check_row(apps, &rows[i], table, pass > 0);
                apps_sweep(apps);
        }
        check_again(apps, rows, n, table);
        apps_free(apps);
        tree_remove(folder);
}

int main(int argc, char **argv)
{
        for (int i = 1; i < argc; i++)
                check_table(argv[i]);
        return check_result();
}
