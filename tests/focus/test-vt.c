/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The foreground process of the text console, on trees of /proc. */

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "check.h"
#include "focus/vt.h"
#include "tree.h"

static char folder[] = "/tmp/joulecast-vt-XXXXXX";

static void put(const char *name, const char *text)
{
        check(tree_write(folder, name, text, strlen(text)));
}

#define STAT(pid, group, terminal, foreground)                                                               \
        #pid " (a) b) S 1 " #group " 1 " #terminal " " #foreground " 0 0 0 0 0 1 1 0 0 20 0 1 0 5 0 0\n"

/* Terminal 3 is 4:3, which is 1027 in field 7 of stat. */
static void console(void)
{
        int root_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct vt *vt = NULL;
        pid_t pid = 0;

        check_int(vt_open(root_fd, &vt), -ENODEV);
        put("sys/class/tty/tty0/active", "tty3\n");
        put("proc/10/stat", STAT(10, 10, 1025, 10));
        check_int(vt_open(root_fd, &vt), 0);
        check_int(vt_active(vt), 3);
        check_int(vt_foreground(vt, &pid), -ENODATA); /* no process has terminal 3: perhaps a display manager's */
        put("proc/20/stat", STAT(20, 20, 1027, 20));
        check_int(vt_foreground(vt, &pid), 0);
        check_int(pid, 20); /* the shell itself */
        put("proc/20/stat", STAT(20, 20, 1027, 31));
        put("proc/31/stat", STAT(31, 31, 1027, 31));
        check_int(vt_foreground(vt, &pid), 0);
        check_int(pid, 31); /* its job */
        put("proc/31/stat", STAT(31, 30, 1027, 31));
        put("proc/32/stat", STAT(32, 31, 1027, 31));
        check_int(vt_foreground(vt, &pid), 0);
        check_int(pid, 32); /* the job outlived its leader */
        put("proc/20/stat", STAT(20, 20, 1027, -1));
        check_int(vt_foreground(vt, &pid), -ENODATA);
        put("proc/20/stat", "garbage");
        vt_foreground(vt, &pid);
        vt_close(vt);
        close(root_fd);
}

/* Not every poll searches all processes for the one that has the terminal. */
static void console_is_cheap(void)
{
        int root_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct vt *vt = NULL;
        pid_t pid = 0;

        put("sys/class/tty/tty0/active", "tty5\n");
        put("proc/loadavg", "0.10 0.20 0.30 1/99 500\n");
        check_int(vt_open(root_fd, &vt), 0);
        check_int(vt_foreground(vt, &pid), -ENODATA);
        check_int(vt_foreground(vt, &pid), -ENODATA);
        put("proc/400/stat", STAT(400, 400, 1029, 400)); /* an old process, which is not looked at again */
        put("proc/loadavg", "0.10 0.20 0.30 1/99 510\n");
        check_int(vt_foreground(vt, &pid), -ENODATA);
        put("proc/loadavg", "0.10 0.20 0.30 1/99 520\n");
        check_int(vt_foreground(vt, &pid), -ENODATA);
        put("proc/515/stat", STAT(515, 515, 1029, 515)); /* started before the last look, in the foreground now */
        check_int(vt_foreground(vt, &pid), 0);
        check_int(pid, 515);
        put("proc/515/stat", STAT(515, 515, 1025, 515)); /* it leaves the terminal: all processes are searched */
        check_int(vt_foreground(vt, &pid), 0);
        check_int(pid, 400);
        put("proc/400/stat", STAT(400, 400, 0, -1));
        for (int i = 0; i < 3; i++)
                check_int(vt_foreground(vt, &pid), -ENODATA);
        put("proc/400/stat", STAT(400, 400, 1029, 400)); /* an old one after all: found late, but found */
        for (int i = 0; i < 64 && vt_foreground(vt, &pid) < 0; i++)
                pid = 0;
        check_int(pid, 400);
        put("proc/400/stat", STAT(400, 400, 0, -1));
        for (int i = 0; i < 3; i++)
                check_int(vt_foreground(vt, &pid), -ENODATA);
        put("proc/7/stat", STAT(7, 7, 1029, 7)); /* pids wrapped around */
        put("proc/loadavg", "0.10 0.20 0.30 1/99 8\n");
        check_int(vt_foreground(vt, &pid), 0);
        check_int(pid, 7);
        put("proc/7/stat", STAT(7, 7, 1029, 40)); /* one process is left in group 40, and soon none */
        put("proc/41/stat", STAT(41, 40, 1029, 40));
        check_int(vt_foreground(vt, &pid), 0);
        put("proc/35/stat", STAT(35, 40, 1029, 40));
        check_int(vt_foreground(vt, &pid), 0);
        check_int(pid, 41);
        put("proc/41/stat", STAT(41, 41, 1029, 40));
        check_int(vt_foreground(vt, &pid), 0);
        check_int(pid, 35);
        put("proc/35/stat", STAT(35, 35, 1029, 40));
        for (int i = 0; i < 3; i++)
                check_int(vt_foreground(vt, &pid), -ENODATA);
        put("proc/35/stat", STAT(35, 40, 1029, 40));
        check_int(vt_foreground(vt, &pid), -ENODATA); /* a group without members gets none */
        put("proc/7/stat", STAT(7, 7, 1029, 7));
        check_int(vt_foreground(vt, &pid), 0);
        check_int(pid, 7);
        vt_close(vt);
        close(root_fd);
}

int main(void)
{
        check(mkdtemp(folder) != NULL);
        console();
        console_is_cheap();
        tree_remove(folder);
        return check_result();
}
