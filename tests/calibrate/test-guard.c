/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Whether a calibration may go on, on a machine tree; CPU load; and sampled frequencies. */

#include <errno.h>
#include <fcntl.h>
#include <linux/input.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "check.h"
#include "hold/guard.h"
#include "model/usage.h"
#include "hardware/sampled.h"
#include "hardware/spin.h"
#include "source/battery.h"
#include "tree.h"
#include "util/units.h"

static char dir[64];
static int root_fd;

static void put(const char *path, const char *text)
{
        check(tree_write(dir, path, text, strlen(text)));
}

static void make_tree(void)
{
        snprintf(dir, sizeof(dir), "/tmp/joulecast-guard-XXXXXX");
        check(mkdtemp(dir) != NULL);
        root_fd = open(dir, O_RDONLY | O_DIRECTORY);
        put("sys/class/power_supply/BAT0/type", "Battery\n");
        put("sys/class/power_supply/AC/type", "Mains\n");
        put("sys/class/power_supply/AC/online", "0\n");
        put("sys/class/power_supply/dock/type", "USB\n");
        put("sys/class/power_supply/dock/scope", "Device\n");
        put("sys/class/power_supply/dock/online", "1\n");
}

static uint64_t now_ns(void)
{
        struct timespec now;

        clock_gettime(CLOCK_BOOTTIME, &now);
        return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static struct sample sample_at(uint64_t at_ns, int32_t temperature_dc)
{
        return (struct sample){
                .boottime_ns = at_ns,
                .have = SAMPLE_BATTERY,
                .battery = { .have = BATTERY_CAPACITY | BATTERY_TEMPERATURE, .status = BATTERY_DISCHARGING,
                             .capacity_percent = 80, .temperature_dc = temperature_dc },
        };
}

/* The verdict on a battery at this temperature (tenths of C), @s seconds from now. */
static int judge(struct guard *guard, double s, int32_t temperature_dc, char *reason)
{
        struct sample sample = sample_at(now_ns() + (uint64_t)(s * (double)NS_PER_S), temperature_dc);

        *reason = '\0';
        return guard_judge(guard, &sample, reason, 64);
}

static void supplies(void)
{
        struct guard *guard = NULL, *forced = NULL;
        struct sample sample = sample_at(now_ns(), 250);
        char reason[64];

        check(battery_supply(root_fd) == SUPPLY_OFFLINE); /* a mouse's dock does not count */
        check_int(guard_open(root_fd, false, NULL, &guard), 0);
        check_int(guard_open(root_fd, true, NULL, &forced), 0);
        check_int(judge(guard, 0, 250, reason), 0);
        put("sys/class/power_supply/AC/online", "1\n");
        check(battery_supply(root_fd) == SUPPLY_ONLINE);
        check_int(judge(guard, 10, 250, reason), -EAGAIN);
        check_text(reason, "the charger is plugged in");
        check_int(judge(forced, 10, 250, reason), 0);
        sample.battery.status = BATTERY_CHARGING; /* before the firmware was told */
        check_int(guard_judge(forced, &sample, reason, sizeof(reason)), 0);
        guard_after_change(forced, true);
        check_int(guard_judge(forced, &sample, reason, sizeof(reason)), -EAGAIN);
        check_text(reason, "the battery does not discharge");
        check_int(judge(forced, 10, 250, reason), 0);
        guard_after_change(forced, false); /* given back: it charges, but may be held again */
        check_int(guard_judge(forced, &sample, reason, sizeof(reason)), 0);
        put("sys/class/power_supply/AC/online", "0\n");
        check_int(judge(guard, 20, 250, reason), 0);
        sample.battery.status = BATTERY_CHARGING;
        check_int(guard_judge(guard, &sample, reason, sizeof(reason)), -EAGAIN);
        check_text(reason, "the battery does not discharge");
        sample.battery.have = 0;
        check_int(guard_judge(guard, &sample, reason, sizeof(reason)), -EAGAIN);
        check_text(reason, "the battery cannot be read");
        sample.have = 0; /* removed */
        check_int(guard_judge(guard, &sample, reason, sizeof(reason)), -EAGAIN);
        guard_close(guard);
        guard_close(forced);
}

static void count_sentence(void *data, enum log_level level, const char *sentence)
{
        (*(int *)data)++;
}

/*
 * It pauses at 42 C, goes on below 40 C, and ends above 45 C; similarly in the cold. A missing temperature
 * counts as fine.
 */
static void temperatures(void)
{
        int said = 0;
        const struct log log = { count_sentence, &said };
        struct guard *guard = NULL;
        struct sample sample = sample_at(now_ns(), 0);
        char reason[64];

        check_int(guard_open(root_fd, false, &log, &guard), 0);
        check_int(judge(guard, 0, 419, reason), 0);
        check_int(judge(guard, 0, 421, reason), -EAGAIN);
        check_text(reason, "the battery is at 42.1 C");
        check_int(judge(guard, 0, 405, reason), -EAGAIN);
        check_int(judge(guard, 0, 399, reason), 0);
        check_int(judge(guard, 0, 405, reason), 0);
        check_int(judge(guard, 0, 451, reason), -ECANCELED);
        check_int(judge(guard, 0, 250, reason), 0);
        check_int(judge(guard, 0, 49, reason), -EAGAIN);
        check_int(judge(guard, 0, 65, reason), -EAGAIN);
        check_int(judge(guard, 0, 75, reason), 0);
        check_int(said, 0);
        sample.battery.have = BATTERY_CAPACITY;
        for (int i = 0; i < 2; i++)
                check_int(guard_judge(guard, &sample, reason, sizeof(reason)), 0);
        check_int(said, 1);
        guard_close(guard);
}

static void event(int fd, uint16_t type, uint16_t code, int32_t value)
{
        const struct input_event one = { .type = type, .code = code, .value = value };

        check_int(write(fd, &one, sizeof(one)), sizeof(one));
}

/* A FIFO in the place of a keyboard. */
static void hands(void)
{
        struct guard *guard = NULL;
        char path[128], reason[64];
        uint64_t before;
        int fd;

        put("dev/input/mice", "");
        snprintf(path, sizeof(path), "%s/dev/input/event3", dir);
        check_int(mkfifo(path, 0600), 0);
        check_int(guard_open(root_fd, false, NULL, &guard), 0);
        fd = open(path, O_WRONLY | O_NONBLOCK);
        check(fd >= 0);
        event(fd, EV_KEY, KEY_ENTER, 0); /* a release: pressed before */
        event(fd, EV_KEY, KEY_BRIGHTNESSDOWN, 1);
        event(fd, EV_SYN, SYN_REPORT, 0);
        event(fd, EV_MSC, MSC_SCAN, 1);
        check_int(judge(guard, 0, 250, reason), 0);
        event(fd, EV_KEY, KEY_A, 1);
        check_int(judge(guard, 0, 250, reason), -EAGAIN);
        check_text(reason, "somebody uses the machine");
        check_int(judge(guard, 55, 250, reason), -EAGAIN);
        check_int(judge(guard, 65, 250, reason), 0);
        check_int(judge(guard, 66, 250, reason), 0);

        /* A touch ends a wait of ten seconds at once; without one it lasts its time. */
        event(fd, EV_ABS, ABS_MT_POSITION_X, 7);
        before = now_ns();
        check_int(guard_wait(guard, before + 10 * NS_PER_S), 0);
        check((double)(now_ns() - before) < 5e9);
        check_int(judge(guard, 0, 250, reason), -EAGAIN);
        check_int(judge(guard, 70, 250, reason), 0);
        before = now_ns();
        check_int(guard_wait(guard, before + NS_PER_S / 10), 0);
        check((double)(now_ns() - before) >= 1e8);
        close(fd);
        guard_close(guard);
}

static double cpu_s(void)
{
        struct rusage usage;

        getrusage(RUSAGE_SELF, &usage);
        return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6;
}

static void pause_s(double s)
{
        nanosleep(&(struct timespec){ .tv_nsec = (long)(s * 1e9) }, NULL);
}

static void spins(void)
{
        const uint32_t first = 0, none = 100000;
        struct spin *spin = NULL;
        double before = cpu_s(), used;

        check_int(spin_start(&none, 1, &spin), -EINVAL);
        check(spin == NULL);
        check_int(spin_start(&first, 1, &spin), 0);
        for (int i = 0; i < 100 && cpu_s() < before + 0.1; i++)
                pause_s(0.1);
        check(cpu_s() >= before + 0.1);
        spin_stop(spin);
        used = cpu_s();
        pause_s(0.2);
        check(cpu_s() < used + 0.1);
}

/* A driver that shows only the current frequency. */
static void samples_frequencies(void)
{
        struct hardware_description description = {
                .n_policies = 2,
                .policies = { { .policy = 0, .khz = { 400000, 800000, 1200000 }, .n_khz = 3 },
                              { .policy = 4, .khz = { 400000, 2000000 }, .n_khz = 2 } },
        };
        struct sampled sampled = { .root_fd = root_fd, .description = &description };
        struct sample sample = { 0 };

        put("sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq", "799987\n");
        put("sys/devices/system/cpu/cpufreq/policy4/scaling_cur_freq", "1950000\n");
        for (uint64_t s = 1; s <= 3; s++) {
                sample_reset(&sample);
                sample.monotonic_ns = s * NS_PER_S;
                sample.have = SAMPLE_OPPS;
                *sample_add_opp(&sample) = (struct opp){ .policy = 0, .khz = KHZ_UNKNOWN, .time_ns = s };
                *sample_add_opp(&sample) = (struct opp){ .policy = 4, .khz = KHZ_UNKNOWN, .time_ns = s };
                check_int(sampled_fill(&sampled, &sample), 0);
        }
        put("sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq", "1250000\n");
        sampled_look(&sampled, 4 * NS_PER_S);
        check_int(sample.n_opps, 5);
        for (size_t i = 0; i < 5; i++) {
                static const struct opp want[] = { { 0, 400000, 0 }, { 0, 800000, 2000000000 }, { 0, 1200000, 0 },
                                                   { 4, 400000, 0 }, { 4, 2000000, 2000000000 } };

                check_int(sample.opps[i].policy, want[i].policy);
                check_int(sample.opps[i].khz, want[i].khz);
                check_int(sample.opps[i].time_ns, want[i].time_ns);
        }
        check_int(sampled.needed[0].time_ns[2], NS_PER_S);

        /* With time_in_state nothing is added. */
        sample_reset(&sample);
        sample.have = SAMPLE_OPPS;
        *sample_add_opp(&sample) = (struct opp){ .policy = 0, .khz = 800000, .time_ns = 5 };
        check_int(sampled_fill(&sampled, &sample), 0);
        check_int(sample.n_opps, 1);
        sample_clear(&sample);
}

int main(void)
{
        make_tree();
        supplies();
        temperatures();
        hands();
        spins();
        samples_frequencies();
        close(root_fd);
        tree_remove(dir);
        return check_result();
}
