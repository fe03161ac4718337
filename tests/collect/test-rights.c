/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Rights that the service keeps after dropping its privileges, and the order in which it opens files. Needs no root. */

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "check.h"
#include "machine/machine.h"
#include "rights.h"
#include "util/paths.h"
#include "util/util.h"

#define NOBODY 65534

static char folder[] = "/tmp/joulecast-rights-XXXXXX";
static char socket_path[64], entry_path[128];
static unsigned calls;

static time_t read_at_s(void)
{
        struct stat status = { 0 };

        check_int(stat(entry_path, &status), 0);
        return status.st_atime;
}

static void opened(void)
{
        calls++;
        check(access(socket_path, F_OK) < 0);
        check_int(read_at_s(), 1);
}

/* Rights are given up before a socket is made or a file is read that users may have written. */
static void rights_go_first(void)
{
        const struct timespec old[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
        const struct machine_options options = { .root = folder, .focus_socket = socket_path, .opened = opened };
        struct sources sources = { 0 };

        snprintf(socket_path, sizeof(socket_path), "%s/focus.sock", folder);
        snprintf(entry_path, sizeof(entry_path), "%s/usr/share/applications/app.desktop", folder);
        check_int(util_make_parent(entry_path, 0755), 0);
        check_int(util_write_file(entry_path, "[Desktop Entry]\n", 16, 0644), 0);
        check_int(utimensat(AT_FDCWD, entry_path, old, 0), 0);
        check_int(machine_open(&options, &sources), 0);
        check_int(calls, 1);
        check_int(access(socket_path, F_OK), 0);
        sources_close(&sources);
}

/* Makes bpf() fail, like a kernel before 5.19 without CAP_BPF. */
static bool refuse_bpf(void)
{
        struct sock_filter filter[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        const struct sock_fprog program = { ARRAY_SIZE(filter), filter };

        return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void bpf_may_not_stay(void)
{
        if (refuse_bpf())
                check(!rights_bpf_stays());
}

static const struct process *find(const struct sample *sample, pid_t pid)
{
        for (size_t i = 0; i < sample->n_processes; i++)
                if (sample->processes[i].pid == pid)
                        return &sample->processes[i];
        return NULL;
}

/* The service sees all processes without privileges; a user without privileges sees only their own. */
static void look_as_nobody(void)
{
        for (int everyone = 0; everyone < 2; everyone++) {
                const struct machine_options options = { .everyone = everyone };
                struct sources sources = { 0 };
                struct sample sample = { 0 };
                const struct process *first, *self;

                check_int(machine_open(&options, &sources), 0);
                check_int(sources_read(&sources, &sample), 0);
                first = find(&sample, 1);
                self = find(&sample, getpid());
                check(self && (self->have & USAGE_DISK));
                check_int(first != NULL, everyone);
                check(!first || !(first->have & USAGE_DISK)); /* unknown, not 0 */
                sources_close(&sources);
                sample_clear(&sample);
        }
}

static void paths_go_by_what_can_be_written(void)
{
        char own[] = "/tmp/joulecast-own-XXXXXX", path[96];

        check(mkdtemp(own) != NULL);
        snprintf(path, sizeof(path), "%s/made/later/usage.db", own);
        check(paths_is_systems(path));
        rmdir(own);
        check(!paths_is_systems("/proc/1/x/y"));
        if (geteuid() == NOBODY)
                check(!paths_is_systems("/var/lib/joulecast/usage.db"));
}

static void run_as_nobody(void (*test)(void))
{
        pid_t child = fork();
        int status = -1;

        if (child == 0) {
                if (geteuid() == 0 && (setresgid(NOBODY, NOBODY, NOBODY) < 0 || setresuid(NOBODY, NOBODY, NOBODY) < 0))
                        _exit(1);
                prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* else its own /proc is root's */
                test();
                _exit(check_result());
        }
        check_int(waitpid(child, &status, 0), child);
        check_int(status, 0);
}

int main(void)
{
        check(mkdtemp(folder) != NULL);
        check(rights_bpf_stays() || geteuid() != 0);
        rights_go_first();
        paths_go_by_what_can_be_written();
        run_as_nobody(bpf_may_not_stay);
        run_as_nobody(paths_go_by_what_can_be_written);
        if (getpid() != 1 && access("/proc/1/stat", R_OK) == 0 && kill(1, 0) == (geteuid() == 0 ? 0 : -1))
                run_as_nobody(look_as_nobody);
        unlink(socket_path);
        unlink(entry_path);
        return check_result();
}
