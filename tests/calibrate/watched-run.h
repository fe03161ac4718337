/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A run on a virtual device with disturbances, for the tests of pauses. */

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "check.h"
#include "model/profile.h"
#include "run/run.h"
#include "util/units.h"
#include "util/util.h"

static const char device_text[] =
        "[profile]\nversion = 1\ndevice = quiet\nmethod = virtual\n"
        "[battery]\nenergy_full_mwh = 15000\n"
        "[base]\npower_mw = 150\n"
        "[cpu 0]\ncpus = 0-1\n"
        "active_mw.384000 = 160\nactive_mw.1000000 = 300\nshared_mw.384000 = 40\nshared_mw.1000000 = 80\n"
        "[disk]\nread_mj_per_mb = 6\nwrite_mj_per_mb = 25\n"
        "[virtual]\nseed = 7\nvoltage_mv.0 = 3500\nvoltage_mv.100 = 3500\nlevel_step_percent = 0.1\n"
        "gauge_period_s = 3.5\ngauge_noise_percent = 0.3\n";

/* The virtual device with disturbances. */
struct watched {
        struct hardware hardware; /* first */
        struct hardware *device;
        double from_s, until_s;   /* since the start: may_go_on() returns @answer */
        int answer;
        double charge_share;      /* charge_now shows this share of the drawn charge; 0: all of it */
        bool charge_coarse;       /* charge_now in whole percents */
        uint64_t charge_uah;      /* at the start */
        const char *load_of;      /* a mode whose load ends after ten seconds, ... */
        unsigned load_lasts_from; /* ... but from that time on that it is held, counted from 1; 0: each time */
        unsigned load_holds;      /* number of times it was held */
        const char *refuses;      /* a mode that cannot be held */
        double away_from_s, away_until_s; /* since the start: no access point can be reached */
        unsigned tries;           /* failed tries */
        double last_try_s;        /* time of the last one */
        const char *loses;        /* a mode during which the connection is lost, */
        unsigned losses;          /* this many times */
        double mute_from_s, mute_until_s; /* since the start: the sensor shows nothing */
        bool on_charger;          /* charges except under a mode: --force-discharge */
        uint64_t start_ns, held_ns;
        char mode[MODE_NAME_MAX];
        bool taken;
        size_t begins, restores, applied_aside;
};

static inline struct watched *watched_of(struct hardware *hardware)
{
        return (struct watched *)hardware;
}

static inline int describe(struct hardware *hardware, struct hardware_description *ret)
{
        struct watched *self = watched_of(hardware);
        int err = self->device->ops->describe(self->device, ret);

        ret->force_discharge = self->on_charger;
        return err;
}

static inline uint64_t now_ns(struct hardware *hardware)
{
        struct hardware *device = watched_of(hardware)->device;

        return device->ops->now_ns(device);
}

static inline int64_t realtime_ns(struct hardware *hardware)
{
        struct hardware *device = watched_of(hardware)->device;

        return device->ops->realtime_ns(device);
}

static inline int begin(struct hardware *hardware)
{
        watched_of(hardware)->taken = true;
        watched_of(hardware)->begins++;
        return 0;
}

static inline bool is_between(const struct watched *self, uint64_t at_ns, double from_s, double until_s)
{
        double s = (double)(at_ns - self->start_ns) / (double)NS_PER_S;

        return s >= from_s && s < until_s;
}

static inline int may_go_on(struct hardware *hardware, const struct sample *sample, char *reason, size_t size)
{
        struct watched *self = watched_of(hardware);

        if (self->answer && is_between(self, sample->boottime_ns, self->from_s, self->until_s)) {
                snprintf(reason, size, "the charger is plugged in");
                return self->answer;
        }
        if (self->load_of && strcmp(self->mode, self->load_of) == 0 &&
            (self->load_lasts_from == 0 || self->load_holds < self->load_lasts_from) &&
            sample->boottime_ns > self->held_ns + 10 * NS_PER_S) {
                snprintf(reason, size, "its load ended");
                return -EIO;
        }
        return 0;
}

static inline int wait_until(struct hardware *hardware, uint64_t until_ns)
{
        struct hardware *device = watched_of(hardware)->device;

        return device->ops->wait(device, until_ns);
}

static inline int read_sample(struct hardware *hardware, struct sample *sample)
{
        struct watched *self = watched_of(hardware);
        int err = self->device->ops->read(self->device, sample);

        if (!err && !self->charge_uah)
                self->charge_uah = sample->battery.charge_now_uah;
        if (!err && self->charge_share > 0)
                sample->battery.charge_now_uah = self->charge_uah - (uint64_t)(self->charge_share *
                        (double)(self->charge_uah - sample->battery.charge_now_uah));
        if (!err && self->losses > 0 && strcmp(self->mode, self->loses) == 0)
                sample->wifi_on = false;
        if (!err && is_between(self, sample->boottime_ns, self->mute_from_s, self->mute_until_s))
                sample->battery.have &= ~(uint32_t)BATTERY_POWER;
        if (!err && ((self->on_charger && !self->mode[0]) ||
                     (self->answer == -EAGAIN &&
                      is_between(self, sample->boottime_ns, self->from_s, self->until_s))))
                sample->battery.status = BATTERY_CHARGING;
        if (!err && self->charge_coarse)
                sample->battery.charge_now_uah = sample->battery.charge_full_uah *
                                                 sample->battery.capacity_percent / 100;
        return err;
}

static inline int apply(struct hardware *hardware, const struct mode *mode)
{
        struct watched *self = watched_of(hardware);

        if (self->losses > 0 && strcmp(self->mode, self->loses) == 0)
                self->losses--; /* that one is over */
        self->applied_aside += !self->taken;
        snprintf(self->mode, sizeof(self->mode), "%s", mode->name);
        self->held_ns = now_ns(hardware);
        self->load_holds += self->load_of && strcmp(mode->name, self->load_of) == 0;
        if (self->refuses && strcmp(mode->name, self->refuses) == 0)
                return -EHOSTUNREACH;
        if (mode->wifi_on && is_between(self, self->held_ns, self->away_from_s, self->away_until_s)) {
                self->tries++;
                self->last_try_s = (double)(self->held_ns - self->start_ns) / (double)NS_PER_S;
                self->device->ops->apply(self->device, mode);
                self->device->ops->wait(self->device, self->held_ns + 40 * NS_PER_S);
                return -ENOTCONN;
        }
        return self->device->ops->apply(self->device, mode);
}

static inline int restore(struct hardware *hardware)
{
        struct watched *self = watched_of(hardware);

        self->restores += self->taken;
        self->taken = false;
        self->mode[0] = '\0';
        return self->device->ops->restore(self->device);
}

static inline void close_watched(struct hardware *hardware)
{
        struct hardware *device = watched_of(hardware)->device;

        device->ops->close(device);
}

static const struct hardware_ops watched_ops = {
        .name = "watched",
        .describe = describe,
        .now_ns = now_ns,
        .realtime_ns = realtime_ns,
        .begin = begin,
        .may_go_on = may_go_on,
        .wait = wait_until,
        .read = read_sample,
        .apply = apply,
        .restore = restore,
        .close = close_watched,
};

struct test {
        struct watched hardware;
        const char *device;         /* NULL: device_text */
        double stop_percent;        /* 0: one that ends the run soon */
        bool aloud;                 /* output is kept in @told */
        struct hardware_ops light;  /* with read_battery(), if needed */
        struct run run;
        struct observation *list;
        size_t n;
        int err;
        struct log log;
        char said[1024], told[4096];
        char folder[32], path[64];
};

static const volatile sig_atomic_t no_signal;

static inline void listen(void *data, enum log_level level, const char *sentence)
{
        snprintf(((struct test *)data)->said, sizeof(((struct test *)data)->said), "%s", sentence);
}

static inline void open_device(struct test *test)
{
        _cleanup_(profile_freep) struct profile *truth = NULL;
        const char *text = test->device ? test->device : device_text;

        check_int(profile_parse(text, strlen(text), "quiet", NULL, &truth), 0);
        check_int(hardware_virtual_open(truth, 1, 90.5, NULL, &test->hardware.device), 0);
        test->hardware.hardware.ops = test->light.name ? &test->light : &watched_ops;
        test->hardware.start_ns = now_ns(&test->hardware.hardware);
        test->run.hardware = &test->hardware.hardware;
        check_int(describe(&test->hardware.hardware, &test->run.description), 0);
}

/* The run, with its standard output in @told. */
static inline int run_aloud(struct test *test)
{
        FILE *file = tmpfile();
        int before = dup(STDOUT_FILENO), err;
        size_t n;

        check(file != NULL);
        check_int(progress_open(false, &test->run.progress), 0);
        fflush(stdout);
        dup2(fileno(file), STDOUT_FILENO);
        err = run_perform(&test->run);
        fflush(stdout);
        dup2(before, STDOUT_FILENO);
        close(before);
        rewind(file);
        n = fread(test->told, 1, sizeof(test->told) - 1, file);
        test->told[n] = '\0';
        fclose(file);
        progress_close(test->run.progress);
        return err;
}

/* A whole run, as joulecast-calibrate does it; its observations are in test->list. */
static inline void run(struct test *test, enum observation_method method)
{
        struct run *run = &test->run;

        run->request = (struct run_request){ .stop_percent = test->stop_percent > 0 ? test->stop_percent : 50,
                                             .passes = 1,
                                             .battery_limit_percent = INFINITY,
                                             .time_limit_h = 20,
                                             .seed = 1 };
        open_device(test);
        snprintf(test->folder, sizeof(test->folder), "/tmp/joulecast-pauses-XXXXXX");
        check(mkdtemp(test->folder) != NULL);
        snprintf(test->path, sizeof(test->path), "%s/observations.db", test->folder);
        run->limits = (struct plan_limits){ INFINITY, INFINITY, INFINITY };
        run->method = method;
        test->log = (struct log){ listen, test };
        run->log = &test->log;
        check_int(plan_make(&run->description, &run->plan), 0);
        check_int(observations_open(test->path, true, NULL, &run->observations), 0);
        check_int(run_begin(run), 0);
        check_int(begin(run->hardware), 0);
        check_int(runner_open(run->hardware, &run->description, &no_signal, method == METHOD_TICKS, &run->runner), 0);
        check_int(run_open(run), 0);
        test->err = test->aloud ? run_aloud(test) : run_perform(run);
        check_int(observations_read(run->observations, run->record.id, &test->list, &test->n), 0);
}

static inline void end(struct test *test)
{
        check(!test->hardware.taken);
        check_int(test->hardware.begins, test->hardware.restores);
        check_int(test->hardware.applied_aside, 0);
        observations_free(test->list, test->n);
        run_close(&test->run);
        runner_close(&test->run.runner);
        observations_close(test->run.observations);
        plan_clear(&test->run.plan);
        close_watched(&test->hardware.hardware);
        unlink(test->path);
        rmdir(test->folder);
}

static inline size_t count(const struct test *test, const char *mode, const char *rejected)
{
        size_t n = 0;

        for (size_t i = 0; i < test->n; i++)
                n += (!mode || strcmp(test->list[i].mode, mode) == 0) &&
                     strcmp(test->list[i].rejected, rejected) == 0;
        return n;
}
