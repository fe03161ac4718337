/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A collector that counts the network in a way that is forced, on a wire of its own: what the tests of
 * network bytes share.
 */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "child.h"
#include "ends.h"
#include "machine/machine.h"
#include "net-wire.h"
#include "process/collector.h"
#include "util/units.h"
#include "util/util.h"

static struct source *source, *sockets; /* the second: of NET_BY_SOCKETS */
static struct sample sample;
static struct apps *apps;
static enum net_by way;
static enum air air; /* the radio that the wire stands for, if any */
static pid_t peer;

/* Not inlined: else gcc -O3 takes the NULL of a second call for possible where the first one was checked. */
__attribute__((noinline, unused)) static const struct process *find(pid_t pid)
{
        for (size_t i = 0; i < sample.n_processes; i++)
                if (sample.processes[i].pid == pid)
                        return &sample.processes[i];
        return NULL;
}

static inline void look(void)
{
        sample_reset(&sample);
        check_int(source->ops->read(source, &sample), 0);
        if (sockets)
                check_int(sockets->ops->read(sockets, &sample), 0);
}

static inline bool open_all(const char *collector, const char *wifi)
{
        struct collector_options options = { .root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                                             .radio_for_test = wifi, .air_for_test = air, .net_by = way };
        bool there;

        check_int(apps_new(options.root_fd, NULL, &apps), 0);
        options.apps = apps;
        there = collector_open(all_collectors, collector, &options, &source) == 0;
        if (there && way == NET_BY_SOCKETS)
                there = net_process_open(options.root_fd, wifi, &sockets) == 0;
        close(options.root_fd);
        if (there)
                ends_open();
        return there;
}

static inline void close_all(void)
{
        ends_close();
        if (sockets)
                sockets->ops->close(sockets);
        source->ops->close(source);
        apps_free(apps);
        sockets = NULL;
}

static inline bool is_there(const char *collector)
{
        bool there = open_all(collector, NULL);

        if (!there)
                return false;
        there = sockets || ((source->counts & COUNTS_NET) && source->net_by == (uint32_t)way);
        close_all();
        return there;
}

/*
 * Parses "COLLECTOR calls|packets|sockets". Returns the collector; NULL, with a message, if this machine does not have
 * it.
 */
static inline const char *begin(int argc, char **argv)
{
        static const char *const ways[] = { [NET_BY_CALLS] = "calls", [NET_BY_PACKETS] = "packets",
                                            [NET_BY_SOCKETS] = "sockets" };
        const char *collector = argc > 1 ? argv[1] : "bpf", *name = argc > 2 ? argv[2] : "calls";
        int ready[2];
        char byte = 0;

        for (size_t i = NET_BY_CALLS; i < ARRAY_SIZE(ways); i++)
                if (strcmp(ways[i], name) == 0)
                        way = (enum net_by)i;
        if (!is_there(collector) || unshare(CLONE_NEWNET) < 0 || pipe(ready) < 0) {
                printf("skipped: needs root, network namespaces and the %s collector with network bytes by %s\n",
                       collector, name);
                return NULL;
        }
        peer = start_child();
        if (peer == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                if (setpgid(0, 0) < 0 || unshare(CLONE_NEWNET) < 0 || write(ready[1], &byte, 1) != 1)
                        _exit(1);
                net_wire_be_peer();
        }
        if (read(ready[0], &byte, 1) != 1 || !net_wire_make(peer)) {
                kill(-peer, SIGKILL);
                printf("skipped: no veth pair could be made (iproute2 and util-linux)\n");
                return NULL;
        }
        return collector;
}

static inline int end(void)
{
        kill(-peer, SIGKILL);
        sample_clear(&sample);
        return ends_result();
}

/* main() of such a test: runs @test with the wire as another interface, then as WiFi. */
static inline int run_on_wire(int argc, char **argv, void (*test)(const char *collector, bool wifi))
{
        const char *collector = begin(argc, argv);

        if (!collector)
                return 77;
        test(collector, false);
        test(collector, true);
        return end();
}
