/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Events of perf_event_open(2) that count the cycles of each CPU while it works, for the BPF programs. */

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "process-bpf.h"
#include "util/util.h"
#include "process.skel.h"

#define EVENT_SOURCES "/sys/bus/event_source/devices"

static int open_event(uint32_t cpu, uint32_t type, uint64_t config)
{
        struct perf_event_attr event = {
                .size = sizeof(event),
                .type = type,
                .config = config,
                .pinned = 1, /* all the time, or it says that it does not count */
        };
        int fd = (int)syscall(SYS_perf_event_open, &event, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

        return fd < 0 ? -errno : fd;
}

/* On a hybrid x86 the kernel takes cycles for those of P cores, unless the number of another unit is in front. */
static int open_small(uint32_t cpu)
{
        static const char *const units[] = { "cpu_atom", "cpu_lowpower" };
        int fd = -ENOENT;

        for (size_t i = 0; fd < 0 && i < ARRAY_SIZE(units); i++) {
                char path[96], text[32];
                uint64_t unit;

                snprintf(path, sizeof(path), EVENT_SOURCES "/%s/type", units[i]);
                if (util_read_at(AT_FDCWD, path, text, sizeof(text)) > 0 && util_parse_u64(text, &unit) == 0)
                        fd = open_event(cpu, PERF_TYPE_HARDWARE, unit << 32 | PERF_COUNT_HW_CPU_CYCLES);
        }
        return fd;
}

static int open_cycles(uint32_t cpu, bool for_test)
{
        int fd;

        if (for_test)
                return open_event(cpu, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
        fd = open_event(cpu, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
        return fd < 0 ? open_small(cpu) : fd;
}

/* @bpf: gets the events; NULL: they are only tried. */
static int open_all(bool for_test, struct process_bpf *bpf)
{
        long n = sysconf(_SC_NPROCESSORS_CONF);
        int err = -ENOENT;
        bool any = false;

        for (uint32_t cpu = 0; cpu < MIN(n, BPF_CPUS_MAX); cpu++) {
                _cleanup_close_ int fd = open_cycles(cpu, for_test);

                if (fd < 0)
                        err = fd;
                else if (!bpf || bpf_map_update_elem(bpf_map__fd(bpf->maps.cycles), &cpu, &fd, BPF_ANY) == 0)
                        any = true; /* the map keeps the event */
                else
                        err = -errno;
        }
        return any ? 0 : err;
}

int process_bpf_try_cycles(bool for_test)
{
        return open_all(for_test, NULL);
}

int process_bpf_open_cycles(struct process_bpf *bpf, bool for_test)
{
        return open_all(for_test, bpf);
}
