/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Ten thousand polls, with processes that come and go,
 * take no more memory than a thousand, and no descriptors.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "child.h"
#include "interval/interval.h"
#include "process/collector.h"
#include "source/clock.h"
#include "util/util.h"

#define POLLS 10000

/* kB of private memory. */
static uint64_t anonymous_kb(void)
{
        char text[4096];
        const char *line;

        if (util_read_at(AT_FDCWD, "/proc/self/status", text, sizeof(text)) < 0)
                return 0;
        line = strstr(text, "\nRssAnon:");
        return line ? strtoull(line + 9, NULL, 10) : 0;
}

static size_t descriptors(void)
{
        DIR *dir = opendir("/proc/self/fd");
        size_t n = 0;

        while (dir && readdir(dir))
                n++;
        if (dir)
                closedir(dir);
        return n;
}

static void come_and_go(void)
{
        pid_t pid = start_child();

        if (pid == 0)
                _exit(0);
        waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
        const char *name = argc > 1 ? argv[1] : "bpf";
        struct collector_options options = { .root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
        struct sources sources = { 0 };
        struct sample sample = { 0 };
        struct interval interval = { 0 };
        struct interval_maker *maker = NULL;
        struct source *source = NULL;
        uint64_t early_kb = 0;
        size_t early_fds = 0;
        int err = apps_new(options.root_fd, NULL, &options.apps);

        check_int(err, 0);
        err = collector_open(all_collectors, name, &options, &source);

        if (err) {
                printf("skipped: %s does not load here: %s\n", name, strerror(-err));
                return 77;
        }
        check_int(sources_add(&sources, source), 0);
        check_int(clock_open(options.root_fd, &source), 0);
        check_int(sources_add(&sources, source), 0);
        check_int(interval_maker_new(&maker), 0);
        for (int poll = 0; poll < POLLS; poll++) {
                if (poll % 10 == 0)
                        come_and_go();
                err = sources_read(&sources, &sample);
                if (!err)
                        err = interval_make(maker, &sample, &interval);
                if (err && err != -ENODATA)
                        check_int(err, 0);
                if (poll == POLLS / 10) {
                        early_kb = anonymous_kb();
                        early_fds = descriptors();
                }
        }
        fprintf(stderr, "%s: %llu kB of our own after %d polls, %llu kB after %d\n", name,
                (unsigned long long)early_kb, POLLS / 10, (unsigned long long)anonymous_kb(), POLLS);
        check(anonymous_kb() <= early_kb + early_kb / 4);
        check(descriptors() <= early_fds + early_fds / 4);
        sources_close(&sources);
        apps_free(options.apps);
        interval_maker_free(maker);
        interval_clear(&interval);
        sample_clear(&sample);
        return check_result();
}
