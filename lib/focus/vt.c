/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "vt.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kd.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>

#include "util/util.h"

#define TTY_MAJOR 4       /* devices.txt: virtual consoles are 4:1 to 4:63 */
#define NEW_MOST 512      /* with more new processes all are read, since pids may have wrapped around */
#define LOOKS_PER_WALK 64 /* all are read each time after so many looks, since an old one may take the terminal */

struct vt {
        int root_fd, active_fd;
        int terminal;         /* that `known` belongs to */
        pid_t known;          /* a process with this controlling terminal; its stat has the foreground group */
        int unused;           /* a terminal without processes; 0: none */
        pid_t newest, newest_before; /* last pid, at the last look at that terminal and the one before */
        unsigned looks;
        pid_t group, member;  /* a member of a foreground group without a leader; member 0: none found */
        unsigned not_found;   /* failed searches for a member, as one that forks and ends can be missed */
};

void vt_close(struct vt *vt)
{
        if (!vt)
                return;
        closep(&vt->root_fd);
        closep(&vt->active_fd);
        free(vt);
}

int vt_open(int root_fd, struct vt **ret)
{
        struct vt *vt = calloc(1, sizeof(*vt));

        if (!vt)
                return -ENOMEM;
        vt->root_fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 3);
        vt->active_fd = openat(root_fd, "sys/class/tty/tty0/active", O_RDONLY | O_CLOEXEC);
        if (vt->root_fd < 0 || vt->active_fd < 0) {
                vt_close(vt);
                return -ENODEV;
        }
        *ret = vt;
        return 0;
}

int vt_fd(const struct vt *vt)
{
        return vt->active_fd;
}

int vt_active(struct vt *vt)
{
        char text[32];
        ssize_t n = pread(vt->active_fd, text, sizeof(text) - 1, 0);
        int number;

        if (n <= 0)
                return -ENODATA;
        text[n] = '\0';
        return sscanf(text, "tty%d", &number) == 1 && number > 0 && number < 64 ? number : -ENODATA;
}

struct job {
        pid_t group, foreground;
        unsigned terminal;
};

static int read_job(const struct vt *vt, pid_t pid, struct job *ret)
{
        char path[64], text[1024];
        const char *close;
        ssize_t n;

        snprintf(path, sizeof(path), "proc/%d/stat", (int)pid);
        n = util_read_at(vt->root_fd, path, text, sizeof(text));
        if (n < 0)
                return (int)n;
        close = strrchr(text, ')');
        if (!close || sscanf(close + 1, " %*c %*d %d %*d %u %d", &ret->group, &ret->terminal,
                             &ret->foreground) != 3)
                return -EBADMSG;
        return 0;
}

static bool has_terminal(const struct job *job, int terminal)
{
        return job->terminal == makedev(TTY_MAJOR, (unsigned)terminal);
}

/* Reads all processes, so only called when the known one is gone. */
static int find_process(struct vt *vt, int terminal, pid_t group, struct job *ret)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(vt->root_fd, "proc");
        const struct dirent *entry;
        pid_t found = 0;

        if (!dir)
                return -ENODATA;
        while (!found && (entry = readdir(dir))) {
                pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;

                if (pid && read_job(vt, pid, ret) == 0 && has_terminal(ret, terminal) &&
                    (!group || ret->group == group))
                        found = pid;
        }
        return found ? found : -ENODATA;
}

static bool shows_graphics(const struct vt *vt, int terminal)
{
        _cleanup_close_ int fd = -1;
        char path[32];
        int mode;

        snprintf(path, sizeof(path), "dev/tty%d", terminal);
        fd = openat(vt->root_fd, path, O_RDONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
        return fd >= 0 && ioctl(fd, KDGETMODE, &mode) == 0 && mode == KD_GRAPHICS;
}

/* Number of the process or thread that was created last; 0: unknown. */
static pid_t newest_process(const struct vt *vt)
{
        char text[128];
        pid_t pid;

        return util_read_at(vt->root_fd, "proc/loadavg", text, sizeof(text)) > 0 &&
                               sscanf(text, "%*s %*s %*s %*s %d", &pid) == 1 ? pid : 0;
}

static int find_among_new(const struct vt *vt, int terminal, pid_t newest, struct job *ret)
{
        for (pid_t pid = vt->newest_before + 1; pid <= newest; pid++)
                if (read_job(vt, pid, ret) == 0 && has_terminal(ret, terminal))
                        return pid;
        return -ENODATA;
}

/*
 * A process that takes an unused terminal was usually just created for that (login prompt, display server). So for
 * an unused terminal only the processes created since the look before the last are read; before the last, because a
 * process may take it some time after its start.
 */
static int find_holder(struct vt *vt, int terminal, struct job *ret)
{
        pid_t newest = newest_process(vt);
        bool known = vt->unused == terminal && newest >= vt->newest && vt->newest_before > 0 &&
                     newest - vt->newest_before <= NEW_MOST && ++vt->looks % LOOKS_PER_WALK != 0;
        int found = known ? find_among_new(vt, terminal, newest, ret) : find_process(vt, terminal, 0, ret);

        vt->newest_before = vt->unused == terminal ? vt->newest : 0;
        vt->newest = newest;
        vt->unused = found < 0 ? terminal : 0;
        return found;
}

/* Finds a member of a group whose leader has ended. */
static int find_member(struct vt *vt, int terminal, pid_t group)
{
        struct job job;
        bool same = vt->group == group, known;

        if (same && vt->member)
                known = read_job(vt, vt->member, &job) == 0 && job.group == group;
        else
                known = same && vt->not_found > 1;
        if (!known) {
                vt->group = group;
                vt->member = MAX(find_process(vt, terminal, group, &job), 0);
                vt->not_found = vt->member ? 0 : same ? vt->not_found + 1 : 1;
        }
        return vt->member ? vt->member : -ENODATA;
}

int vt_foreground(struct vt *vt, pid_t *ret)
{
        int terminal = vt_active(vt), found;
        struct job job, leader;

        if (terminal < 0)
                return terminal;
        if (shows_graphics(vt, terminal))
                return -EBUSY;
        if (vt->terminal != terminal || read_job(vt, vt->known, &job) < 0 || !has_terminal(&job, terminal)) {
                found = find_holder(vt, terminal, &job);
                if (found < 0)
                        return found;
                vt->terminal = terminal;
                vt->known = found;
        }
        if (job.foreground <= 0)
                return -ENODATA;
        if (read_job(vt, job.foreground, &leader) == 0 && leader.group == job.foreground)
                found = job.foreground;
        else
                found = find_member(vt, terminal, job.foreground);
        if (found < 0)
                return found;
        *ret = found;
        return 0;
}
