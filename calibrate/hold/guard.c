/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guard.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include "focus/uevent.h"
#include "input.h"
#include "sessions.h"
#include "source/battery.h"
#include "util/units.h"
#include "util/util.h"

/*
 * Lithium cells age fast above 45 C, and chargers refuse them there (JEITA). The pause comes 3 C before, and
 * the load ends with it. In the cold the internal resistance doubles every ten degrees and gauges lose their
 * count. The run goes on only after 2 C of recovery; otherwise pauses would follow each other within minutes.
 */
#define HOT_C 42.0
#define ABORT_C 45.0
#define COLD_C 5.0
#define AGAIN_C 2.0

/* Time without input after which the user counts as gone. */
#define REST_S 60.0

/* Time after a change of ours in which a session's idle state may change because of it. */
#define OURS_S 5.0

#define CHARGER_LOOK_S 2.0 /* between uevents; some chargers send none */
/* The battery's driver may answer from its cache (1 s) right after its uevent. */
#define SECOND_LOOK_S 1.1

struct guard {
        int root_fd, uevent_fd, timer_fd;
        bool force_discharge;
        bool ignore_supply;
        bool held;                 /* a mode is being held */
        const struct log *log;
        struct input input;
        struct sessions *sessions; /* NULL: no session manager */
        uint64_t ours_ns;          /* until then a session may have woken because of us */
        bool charger;
        uint64_t charger_ns;       /* last look at the charger */
        uint64_t touched_ns;       /* 0: not yet */
        uint64_t second_look_ns;   /* 0: none is due */
        bool paused;
        bool told_temperature;
};

int guard_open(int root_fd, bool force_discharge, const struct log *log, struct guard **ret)
{
        struct guard *guard = calloc(1, sizeof(*guard));

        if (!guard)
                return -ENOMEM;
        *guard = (struct guard){
                .uevent_fd = -1, .timer_fd = -1, .force_discharge = force_discharge, .log = log
        };
        guard->root_fd = openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        guard->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
        if (guard->root_fd < 0 || guard->timer_fd < 0) {
                int err = -errno;

                guard_close(guard);
                return err;
        }
        guard->uevent_fd = uevent_open(); /* without it (in a container) changes show at the next look */
        input_open(root_fd, &guard->input);
        *ret = guard;
        return 0;
}

void guard_ignore_supply(struct guard *guard)
{
        guard->ignore_supply = true;
}

void guard_watch_sessions(struct guard *guard)
{
        if (!guard->sessions && sessions_open(guard->log, &guard->sessions) < 0)
                guard->sessions = NULL;
}

void guard_close(struct guard *guard)
{
        if (!guard)
                return;
        input_close(&guard->input);
        sessions_close(guard->sessions);
        closep(&guard->uevent_fd);
        closep(&guard->timer_fd);
        closep(&guard->root_fd);
        free(guard);
}

static uint64_t after(uint64_t from_ns, double s)
{
        return from_ns + (uint64_t)(s * (double)NS_PER_S);
}

/* True: a power supply changed. */
static bool read_uevents(struct guard *guard)
{
        char message[8192];
        bool power = false;

        for (;;) {
                ssize_t n = recv(guard->uevent_fd, message, sizeof(message), MSG_DONTWAIT);

                if (n < 0 && errno == ENOBUFS) {
                        power = true; /* events were lost: look */
                        input_list(&guard->input);
                        continue;
                }
                if (n <= 0)
                        break;
                if (uevent_is_of(message, (size_t)n, "power_supply"))
                        power = true;
                else if (uevent_is_of(message, (size_t)n, "input"))
                        input_list(&guard->input);
        }
        if (power)
                guard->charger_ns = 0;
        return power;
}

static int set_timer(struct guard *guard, uint64_t until_ns)
{
        struct itimerspec timer = { .it_value = { .tv_sec = (time_t)(until_ns / NS_PER_S),
                                                  .tv_nsec = (long)(until_ns % NS_PER_S) } };

        return timerfd_settime(guard->timer_fd, TFD_TIMER_ABSTIME, &timer, NULL) < 0 ? -errno : 0;
}

static void hear_user(struct guard *guard)
{
        unsigned news = guard->sessions ? sessions_hear(guard->sessions) : 0;
        uint64_t now_ns = util_boottime_ns();

        if (input_touched(&guard->input) || news & SESSIONS_ENTERED ||
            (news & SESSIONS_WOKEN && now_ns >= guard->ours_ns))
                guard->touched_ns = now_ns;
}

/* Events until now come from the user, not from our change. */
void guard_before_change(struct guard *guard)
{
        if (!guard)
                return;
        hear_user(guard);
        guard->ours_ns = UINT64_MAX;
}

void guard_after_change(struct guard *guard, bool held)
{
        if (!guard)
                return;
        guard->ours_ns = after(util_boottime_ns(), OURS_S);
        guard->held = held;
}

static int wait_once(struct guard *guard, bool *early)
{
        struct pollfd fds[INPUT_DEVICES_MAX + 3] = {
                { .fd = guard->timer_fd, .events = POLLIN },
                { .fd = guard->uevent_fd, .events = POLLIN },
                { .fd = guard->sessions ? sessions_fd(guard->sessions) : -1, .events = POLLIN },
        };
        bool rested = guard->touched_ns == 0;

        memcpy(&fds[3], guard->input.devices, guard->input.n * sizeof(fds[0]));
        if (poll(fds, 3 + guard->input.n, -1) < 0)
                return -errno;
        *early = fds[0].revents != 0;
        if (fds[1].revents && read_uevents(guard)) {
                guard->second_look_ns = after(util_boottime_ns(), SECOND_LOOK_S);
                *early = true;
        }
        hear_user(guard);
        *early = *early || (rested && guard->touched_ns != 0);
        return 0;
}

int guard_wait(struct guard *guard, uint64_t until_ns)
{
        bool done = false;
        int err;

        if (guard->second_look_ns && guard->second_look_ns < until_ns) {
                until_ns = guard->second_look_ns;
                guard->second_look_ns = 0;
        }
        if (until_ns <= util_boottime_ns())
                return 0;
        err = set_timer(guard, until_ns);
        while (!err && !done)
                err = wait_once(guard, &done);
        return err;
}

/* 0 or -EAGAIN, with the reason. */
static int judge_supply(struct guard *guard, const struct sample *sample, char *reason, size_t size)
{
        enum battery_status status = sample->battery.status;

        if (!(sample->have & SAMPLE_BATTERY) || !(sample->battery.have & BATTERY_CAPACITY)) {
                snprintf(reason, size, "the battery cannot be read");
                return -EAGAIN;
        }
        /* With a weak charger the battery discharges although the charger feeds part of the load. */
        if (sample->boottime_ns >= after(guard->charger_ns, CHARGER_LOOK_S)) {
                guard->charger = !guard->force_discharge && !guard->ignore_supply &&
                                 battery_supply(guard->root_fd) == SUPPLY_ONLINE;
                guard->charger_ns = sample->boottime_ns;
        }
        if (guard->force_discharge && !guard->held)
                return 0; /* it charges until the first mode makes the firmware discharge */
        if (!guard->charger && (status == BATTERY_DISCHARGING || status == BATTERY_UNKNOWN))
                return 0;
        snprintf(reason, size,
                 guard->charger ? "the charger is plugged in" : "the battery does not discharge");
        return -EAGAIN;
}

static int judge_temperature(struct guard *guard, const struct battery *battery, char *reason, size_t size)
{
        double celsius = battery->temperature_dc / 10.0, margin = guard->paused ? AGAIN_C : 0;

        if (!(battery->have & BATTERY_TEMPERATURE)) {
                if (!guard->told_temperature)
                        log_info(guard->log,
                                 "this battery shows no temperature; only the kernel's throttling protects "
                                 "it, and throttled observations are rejected");
                guard->told_temperature = true;
                return 0;
        }
        if (celsius < HOT_C - margin && celsius > COLD_C + margin)
                return 0;
        snprintf(reason, size, "the battery is at %.1f C", celsius);
        return celsius > ABORT_C ? -ECANCELED : -EAGAIN;
}

static int judge_user(struct guard *guard, uint64_t now_ns, char *reason, size_t size)
{
        if (guard->touched_ns == 0 || now_ns >= after(guard->touched_ns, REST_S)) {
                guard->touched_ns = 0;
                return 0;
        }
        snprintf(reason, size, "somebody uses the machine");
        return -EAGAIN;
}

int guard_judge(struct guard *guard, const struct sample *sample, char *reason, size_t size)
{
        int err;

        hear_user(guard);
        err = judge_supply(guard, sample, reason, size);
        if (!err)
                err = judge_temperature(guard, &sample->battery, reason, size);
        if (!err)
                err = judge_user(guard, sample->boottime_ns, reason, size);
        guard->paused = err != 0;
        return err;
}
