/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "machine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "app/app.h"
#include "focus/focus.h"
#include "held/held.h"
#include "source/battery.h"
#include "source/bluetooth.h"
#include "source/clock.h"
#include "source/cpu.h"
#include "source/disk.h"
#include "source/gpu.h"
#include "source/net.h"
#include "source/proc.h"
#include "util/config.h"
#include "util/util.h"

/* Finds the app of a process. Opened as the first source, and so closed after the sources that use it. */
struct apps_source {
        struct source source;
        struct apps *apps;
};

static int apps_read(struct source *source, struct sample *sample)
{
        return 0;
}

static void apps_close(struct source *source)
{
        apps_free(((struct apps_source *)source)->apps);
        free(source);
}

static const struct source_ops apps_ops = { "apps", apps_read, apps_close };

static int add_apps(int root_fd, struct sources *sources, struct apps **ret)
{
        struct apps_source *self = calloc(1, sizeof(*self));
        int err;

        if (!self)
                return -ENOMEM;
        self->source.ops = &apps_ops;
        err = apps_new(root_fd, NULL, &self->apps);
        if (err) {
                free(self);
                return err;
        }
        *ret = self->apps;
        return sources_add(sources, &self->source);
}

/* A missing device is no error: its bit in a sample is never set. */
static int add_if_there(struct sources *sources, int err, struct source *const *source)
{
        if (err == -ENODEV)
                return 0;
        return err ? err : sources_add(sources, *source);
}

static int may_count(const struct machine_options *options, bool *ret)
{
        *ret = options->counters == COUNTERS_YES;
        return options->counters == COUNTERS_AS_CONFIGURED ? config_read_counters(ret) : 0;
}

static int add_collector(int root_fd, const struct machine_options *options, struct apps *apps,
                         struct sources *sources)
{
        const struct collector *collectors = options->collectors ? options->collectors : plain_collectors;
        bool counters = true;
        int err = may_count(options, &counters);
        struct source *source = NULL;
        const struct collector_options how = { .root_fd = root_fd,
                                               .apps = apps,
                                               .everyone = options->everyone,
                                               .no_counters = !counters,
                                               .log = options->log };

        if (err)
                return err;
        err = collector_open(collectors, options->collector, &how, &source);
        if (!err)
                return sources_add(sources, source);
        if (err == -EINVAL)
                log_error(options->log, "there is no collector \"%s\"; `joulecast doctor` lists them",
                          options->collector);
        else if (options->collector)
                log_error(options->log,
                          "the collector \"%s\" does not work here (%s); without --collector the "
                          "best one that does is taken",
                          options->collector, util_reason(err));
        else if (err != -ENODEV)
                log_warning(options->log, "no collector works here (%s): the use of apps is unknown",
                            util_reason(err));
        return options->collector ? err : 0;
}

/*
 * The open files of a process show its sockets and GPUs. Those of other users can be read with CAP_SYS_PTRACE only,
 * which the service does not have: then sockets and GPUs by app are unknown, not zero.
 */
static bool sees_descriptors(int root_fd, const struct sources *processes)
{
        _cleanup_close_ int proc_fd = openat(root_fd, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        _cleanup_closedir_ DIR *dir = util_opendir_at(proc_fd, "1/fd");

        for (size_t i = 0; i < processes->n; i++)
                if (processes->list[i]->own_only)
                        return true;
        return dir || !util_is_procfs(proc_fd);
}

static void miss_hidden(int root_fd, const struct sources *processes, const struct log *log)
{
        if (processes->n > 0 && !processes->list[0]->own_only && proc_hides(root_fd))
                log_warning(log, PROC_HIDES);
}

/* Adds network bytes if the collector does not count them. */
static int add_net_process(int root_fd, struct sources *sources)
{
        uint32_t counts = sources->n > 0 ? sources->list[0]->counts : 0;
        struct source *source = NULL;

        if (!(counts & COUNTS_CPU) || (counts & COUNTS_NET) || !sees_descriptors(root_fd, sources))
                return 0;
        return add_if_there(sources, net_process_open(root_fd, NULL, &source), &source);
}

static bool automatic(const struct machine_options *options)
{
        return !options->foreground || strcmp(options->foreground, "auto") == 0;
}

/* The screen, and the app that has it. */
static int add_focus(int root_fd, const struct machine_options *options, struct apps *apps, struct sources *sources)
{
        const struct focus_options focus = {
                .root_fd = root_fd,
                .socket_path = automatic(options) ? options->focus_socket : NULL,
                .console = automatic(options),
                .foreground = automatic(options) || strcmp(options->foreground, "none") == 0 ? NULL
                                                                                              : options->foreground,
                .backlight = options->backlight,
                .apps = apps,
                .log = options->log,
        };
        struct source *source = NULL;
        int err = focus_open(&focus, &source);

        return err ? err : sources_add(sources, source);
}

/* Opens everything that needs privileges. */
static int open_processes(int root_fd, const struct machine_options *options, struct apps *apps,
                          struct sources *processes)
{
        int err = add_collector(root_fd, options, apps, processes);

        if (!err)
                err = add_net_process(root_fd, processes);
        if (!err && options->opened)
                options->opened();
        if (!err)
                miss_hidden(root_fd, processes, options->log);
        return err;
}

static int move_all(struct sources *from, struct sources *to)
{
        size_t n = from->n;
        int err = 0;

        from->n = 0;
        for (size_t i = 0; i < n; i++) {
                int added = sources_add(to, from->list[i]);

                err = err ? err : added;
        }
        return err;
}

/* Logs that GPU times of apps are unknown, not zero. */
static int miss_gpu(int root_fd, const struct log *log)
{
        struct source *source = NULL;

        if (gpu_open(root_fd, &source) < 0)
                return 0;
        source->ops->close(source);
        log_warning(log, "GPU time by app is not recorded: only root or CAP_SYS_PTRACE can read which "
                         "processes of other users hold the GPU; see docs/security.md");
        return 0;
}

/* Clocks and operating points come before processes; the GPU and the devices that apps hold come after them. */
static int add_all(int root_fd, const struct machine_options *options, struct sources *sources)
{
        _cleanup_(sources_close) struct sources processes = { 0 };
        struct source *source = NULL;
        struct apps *apps = NULL;
        bool descriptors = false;
        int err = add_apps(root_fd, sources, &apps);

        if (!err)
                err = open_processes(root_fd, options, apps, &processes);
        if (!err)
                descriptors = sees_descriptors(root_fd, &processes);
        if (!err)
                err = add_if_there(sources, clock_open(root_fd, &source), &source);
        if (!err)
                err = add_if_there(sources, battery_open(root_fd, options->log, &source), &source);
        if (!err)
                err = add_if_there(sources, cpu_open(root_fd, &source), &source);
        if (!err)
                err = add_if_there(sources, disk_open(root_fd, &source), &source);
        if (!err)
                err = add_if_there(sources, net_open(root_fd, &source), &source);
        if (!err)
                err = add_if_there(sources, bluetooth_open(root_fd, &source), &source);
        if (!err)
                err = add_focus(root_fd, options, apps, sources);
        if (!err)
                err = move_all(&processes, sources);
        if (!err)
                err = held_open(root_fd, apps, descriptors, &source);
        if (!err)
                err = sources_add(sources, source);
        if (err || !descriptors)
                return err ? err : miss_gpu(root_fd, options->log);
        return add_if_there(sources, gpu_open(root_fd, &source), &source);
}

int machine_open(const struct machine_options *options, struct sources *ret)
{
        const char *root = options->root ? options->root : "/";
        _cleanup_close_ int root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct sources sources = { .log = options->log };
        int err;

        if (root_fd < 0) {
                err = -errno;
                log_error(options->log, "cannot open the machine tree %s: %s", root, strerror(-err));
                return err;
        }
        err = add_all(root_fd, options, &sources);
        if (err) {
                sources_close(&sources);
                return err;
        }
        *ret = sources;
        return 0;
}
