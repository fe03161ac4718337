/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "held/sound.h"
#include "source/battery.h"
#include "source/cpu.h"
#include "source/disk.h"
#include "source/gpu.h"
#include "source/net.h"
#include "source/proc.h"
#include "source/wifi-signal.h"
#include "util/util.h"

/* Texts of /sys and /proc, all parsers on the same bytes: drivers and process names write what they like. */

static void battery(const char *text)
{
        struct battery_unit unit = { 0 };

        if (!battery_parse(text, &unit))
                return;
        fuzz_assert(unit.n_quirks <= BATTERY_QUIRKS_MAX);
        for (size_t i = 0; i < unit.n_quirks; i++)
                fuzz_assert(!strpbrk(unit.quirks[i], "\n\033"));
}

static void cpu(const char *text)
{
        struct cpu_time_in_state times[CPU_POINTS_MAX];
        uint32_t list[CPU_POINTS_MAX], number;
        uint64_t ticks, idle_ticks;
        size_t n = cpu_parse_time_in_state(text, times, CPU_POINTS_MAX);

        fuzz_assert(n <= CPU_POINTS_MAX);
        for (size_t i = 1; i < n; i++)
                fuzz_assert(times[i - 1].khz < times[i].khz);
        n = cpu_parse_khz(text, list, CPU_POINTS_MAX);
        fuzz_assert(n <= CPU_POINTS_MAX);
        n = cpu_parse_list(text, list, CPU_POINTS_MAX);
        fuzz_assert(n <= CPU_POINTS_MAX);
        for (size_t i = 1; i < n; i++)
                fuzz_assert(list[i - 1] < list[i]);
        cpu_parse_stat_line(text, &number, &ticks, &idle_ticks);
}

static void gpu(const char *text)
{
        struct gpu_client client;

        if (gpu_parse_fdinfo(text, &client))
                fuzz_assert(memchr(client.device, '\0', sizeof(client.device)) &&
                            !strpbrk(client.device, " \t\n"));
}

static void sound(const char *text)
{
        unsigned card, device;
        pid_t owner;

        if (sound_parse_status(text, &owner))
                fuzz_assert(owner >= 0);
        fuzz_assert(sound_parse_pcm(text, " : playback", &card, &device) <= 64);
}

static void process(const uint8_t *data, size_t size, const char *text)
{
        struct proc_stat stat;
        struct proc_io io;

        if (proc_parse_stat((const char *)data, size, &stat))
                fuzz_assert(memchr(stat.comm, '\0', sizeof(stat.comm)));
        proc_parse_io(text, &io);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *text = strndup((const char *)data, size);
        struct net_line net;
        struct disk_line disk;
        int32_t dbm;

        fuzz_assert(text);
        battery(text);
        cpu(text);
        gpu(text);
        sound(text);
        process(data, size, text);
        if (wifi_signal_parse_line(text, "wlan0", &dbm))
                fuzz_assert(dbm < 0 && dbm >= INT8_MIN);
        if (net_parse_line(text, &net))
                fuzz_assert(memchr(net.name, '\0', sizeof(net.name)));
        if (disk_parse_line(text, &disk))
                fuzz_assert(memchr(disk.name, '\0', sizeof(disk.name)));
        return 0;
}
