/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Processes that live wholly between two polls are named after their unit, although another program of the same name
 * exists, and although unit and group no longer exist when they are reported.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/magic.h>

#include "check.h"
#include "child.h"
#include "ends.h"
#include "process/collector.h"
#include "util/util.h"

#define MANY_GROUPS 600

static struct source *source;
static struct sample sample;
static char root[128]; /* mount point of cgroup2 */

static void poll_once(void)
{
        sample_reset(&sample);
        check_int(source->ops->read(source, &sample), 0);
}

/* App of the process called @comm that ended in this poll, or NULL. */
static const char *app_of(const char *comm)
{
        for (size_t i = 0; i < sample.n_processes; i++)
                if (strcmp(sample.processes[i].comm, comm) == 0 && sample.processes[i].ended_ns > 0)
                        return sample.processes[i].app;
        return NULL;
}

static void check_app(const char *comm, const char *app)
{
        struct ends_wait wait = { 0 };
        const char *found;

        do {
                poll_once();
                found = app_of(comm);
        } while (ends_wait(&wait, found != NULL, 1));
        check_text(found ? found : "(never told)", app);
}

static bool find_root(void)
{
        static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
        struct statfs info;

        for (size_t i = 0; i < ARRAY_SIZE(mounts); i++)
                if (statfs(mounts[i], &info) == 0 && info.f_type == CGROUP2_SUPER_MAGIC) {
                        snprintf(root, sizeof(root), "%s/joulecast-test-%d", mounts[i], (int)getpid());
                        return true;
                }
        return false;
}

static bool make_group(const char *path)
{
        char full[512];

        snprintf(full, sizeof(full), "%s%s", root, path);
        return mkdir(full, 0755) == 0 || errno == EEXIST;
}

/* An ended process leaves its group a moment after it was waited for. */
static void drop_group(const char *path)
{
        char full[512];

        snprintf(full, sizeof(full), "%s%s", root, path);
        for (int i = 0; i < 3000 && rmdir(full) < 0 && errno == EBUSY; i++)
                usleep(10 * 1000);
        check_int(access(full, F_OK), -1);
}

static void enter(const char *path)
{
        char full[512];
        int fd;

        snprintf(full, sizeof(full), "%s%s/cgroup.procs", root, path);
        fd = open(full, O_WRONLY | O_CLOEXEC);
        if (fd < 0 || write(fd, "0", 1) != 1)
                _exit(1);
        close(fd);
}

/* Until it has given itself the name. */
static void wait_for_name(pid_t pid, const char *comm)
{
        char path[64], text[64] = "";

        snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
        while (strncmp(text, comm, strlen(comm)) != 0 && kill(pid, 0) == 0) {
                usleep(1000);
                if (util_read_at(AT_FDCWD, path, text, sizeof(text)) < 0)
                        break;
        }
}

/* One that is gone before anybody looks. */
static void run_in(const char *path, const char *comm)
{
        int status = 1;
        pid_t pid = start_child();

        if (pid == 0) {
                enter(path);
                prctl(PR_SET_NAME, comm);
                _exit(0);
        }
        waitpid(pid, &status, 0);
        check_int(status, 0);
}

static const char unit[] = "/system.slice/rotate.service";

static void test_unit_that_is_gone(void)
{
        check(make_group(unit));
        poll_once();
        run_in(unit, "brief-one");
        drop_group(unit);
        check_app("brief-one", "sys:rotate");
}

/* A program that lives elsewhere has the same name. */
static void test_namesake(void)
{
        pid_t pid = start_child();

        if (pid == 0) {
                prctl(PR_SET_NAME, "brief-two");
                pause();
        }
        wait_for_name(pid, "brief-two");
        poll_once();
        check(make_group(unit));
        run_in(unit, "brief-two");
        check_app("brief-two", "sys:rotate");
        end_child(pid);
        drop_group(unit);
}

/* Known as one thing, it becomes another and is gone. */
static void test_exec_and_end(void)
{
        char byte = 0;
        int go[2];
        pid_t pid;

        check(make_group(unit) && pipe(go) == 0);
        pid = start_child();
        if (pid == 0) {
                prctl(PR_SET_NAME, "brief-three");
                (void)!read(go[0], &byte, 1);
                enter(unit);
                execl("/bin/true", "true", NULL);
                _exit(1);
        }
        wait_for_name(pid, "brief-three");
        poll_once();
        check_int(write(go[1], &byte, 1), 1);
        waitpid(pid, NULL, 0);
        close(go[0]);
        close(go[1]);
        drop_group(unit);
        check_app("true", "sys:rotate");
}

/* More groups than are remembered, each for one process: the last is as well named as the first. */
static void test_many_groups(void)
{
        char path[64], name[16];

        poll_once();
        for (int i = 0; i < MANY_GROUPS; i++) {
                snprintf(path, sizeof(path), "/system.slice/%.4s-%d.service", i < MANY_GROUPS - 1 ? "job" : "last", i);
                snprintf(name, sizeof(name), "brief-%d", i);
                check(make_group(path));
                run_in(path, name);
                drop_group(path);
        }
        check_app("brief-599", "sys:last"); /* a number at the end is no part of an id */
        check(make_group(unit));
        for (int i = 0; i < 2; i++) { /* reported again after it was forgotten */
                run_in(unit, "brief-last");
                check_app("brief-last", "sys:rotate");
        }
        drop_group(unit);
}

/* The parent determines the app if the group is not reported: taskstats, and cgroup v1. */
static void test_parent(void)
{
        int go[2], done[2];
        char byte = 0;
        pid_t pid;

        check(make_group(unit) && pipe(go) == 0 && pipe(done) == 0);
        pid = start_child();
        if (pid == 0) {
                enter(unit);
                prctl(PR_SET_NAME, "parent-of-brief");
                (void)!write(done[1], &byte, 1);
                (void)!read(go[0], &byte, 1);
                run_in(unit, "brief-child");
                (void)!write(done[1], &byte, 1);
                pause();
        }
        check_int(read(done[0], &byte, 1), 1);
        poll_once();
        check_int(write(go[1], &byte, 1), 1);
        check_int(read(done[0], &byte, 1), 1);
        check_app("brief-child", "sys:rotate");
        end_child(pid);
        drop_group(unit);
}

int main(int argc, char **argv)
{
        const char *name = argc > 1 ? argv[1] : "bpf";
        struct collector_options options = { .root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
        int err = apps_new(options.root_fd, NULL, &options.apps);

        if (!err)
                err = collector_open(all_collectors, name, &options, &source);
        if (err || !(source->counts & COUNTS_EXITS)) {
                printf("skipped: %s does not load here, or is not told of exits: %s\n", name, strerror(-err));
                return 77;
        }
        if (!find_root() || !make_group("") || !make_group("/system.slice")) {
                printf("skipped: no control groups (v2) to be made here\n");
                return 77;
        }
        ends_open();
        test_parent();
        if (strcmp(name, "kept") != 0) { /* taskstats report neither groups nor an exec */
                test_unit_that_is_gone();
                test_namesake();
                test_exec_and_end();
                test_many_groups();
        }
        drop_group("/system.slice");
        drop_group("");
        ends_close();
        source->ops->close(source);
        sample_clear(&sample);
        apps_free(options.apps);
        return ends_result();
}
