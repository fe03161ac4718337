/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/input.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include "focus/uevent.h"
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

/*
 * Detects that somebody touches the machine: keys, pointers, touch screens and switches (a lid) by the kernel's
 * input devices (Documentation/input/input.rst). Keys are not recorded.
 */

#define INPUT_DEVICES_MAX 64

struct input {
        int folder_fd; /* /dev/input; -1: there is none */
        struct pollfd devices[INPUT_DEVICES_MAX];
        char names[INPUT_DEVICES_MAX][16];
        size_t n;
};

/* A phone's motion sensor sends events all the time. */
static bool is_sensor(int fd)
{
        unsigned char properties[INPUT_PROP_CNT / 8 + 1] = { 0 };

        if (ioctl(fd, (int)EVIOCGPROP(sizeof(properties)), properties) < 0) /* an int with musl; the kernel's 32 bits */
                return false;
        return properties[INPUT_PROP_ACCELEROMETER / 8] & (1 << INPUT_PROP_ACCELEROMETER % 8);
}

static bool is_open(const struct input *input, const char *name)
{
        for (size_t i = 0; i < input->n; i++)
                if (strcmp(input->names[i], name) == 0)
                        return true;
        return false;
}

static void open_device(struct input *input, const char *name)
{
        _cleanup_close_ int fd = -1;

        if (strncmp(name, "event", 5) != 0 || strlen(name) >= sizeof(input->names[0]) ||
            is_open(input, name) || input->n == ARRAY_SIZE(input->devices))
                return;
        fd = openat(input->folder_fd, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0 || is_sensor(fd))
                return;
        snprintf(input->names[input->n], sizeof(input->names[0]), "%s", name);
        input->devices[input->n++] = (struct pollfd){ .fd = take_fd(&fd), .events = POLLIN };
}

static void drop(struct input *input, size_t i)
{
        close(input->devices[i].fd);
        input->n--;
        input->devices[i] = input->devices[input->n];
        memcpy(input->names[i], input->names[input->n], sizeof(input->names[i]));
}

/* list again: one came or went */
static void input_list(struct input *input)
{
        _cleanup_closedir_ DIR *dir = input->folder_fd < 0 ? NULL : util_opendir_at(input->folder_fd, ".");
        struct dirent *entry;

        while (dir && (entry = readdir(dir)))
                open_device(input, entry->d_name);
}

/* Devices that may not be read are left out. */
static void input_open(int root_fd, struct input *ret)
{
        *ret = (struct input){
                .folder_fd = openat(root_fd, "dev/input", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        };
        input_list(ret);
}

static void input_close(struct input *input)
{
        while (input->n > 0)
                drop(input, 0);
        closep(&input->folder_fd);
        input->folder_fd = -1;
}

/*
 * Some firmware sends keys when brightness or the radio change: that is us. Only presses count: a release may
 * belong to the key that started the calibration.
 */
static bool is_touch(const struct input_event *event)
{
        if (event->type == EV_KEY)
                return event->value == 1 && event->code != KEY_BRIGHTNESSUP &&
                       event->code != KEY_BRIGHTNESSDOWN && event->code != KEY_DISPLAY_OFF &&
                       event->code != KEY_WLAN && event->code != KEY_RFKILL;
        return event->type == EV_REL || event->type == EV_ABS || event->type == EV_SW;
}

/* 0: all read; -ENODEV: unplugged. */
static int read_device(int fd, bool *touched)
{
        struct input_event events[64];
        ssize_t n;

        while ((n = read(fd, events, sizeof(events))) > 0)
                for (size_t i = 0; i < (size_t)n / sizeof(events[0]); i++)
                        *touched = *touched || is_touch(&events[i]);
        return n < 0 && errno == ENODEV ? -ENODEV : 0;
}

/* since the last call */
static bool input_touched(struct input *input)
{
        bool touched = false;

        for (size_t i = 0; i < input->n;) {
                if (read_device(input->devices[i].fd, &touched) == 0)
                        i++;
                else
                        drop(input, i);
        }
        return touched;
}

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
