/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What comes between a night: a virtual device whose user plugs in, whose load ends, which gets too hot, which lies. */

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "check.h"
#include "night.h"
#include "profile.h"
#include "units.h"
#include "util.h"

static const char device_text[] =
        "[profile]\nversion = 1\ndevice = quiet\nmethod = virtual\n"
        "[battery]\nenergy_full_mwh = 15000\n"
        "[base]\npower_mw = 150\n"
        "[cpu 0]\ncpus = 0-1\n"
        "active_mw.384000 = 160\nactive_mw.1000000 = 300\nshared_mw.384000 = 40\nshared_mw.1000000 = 80\n"
        "[disk]\nread_mj_per_mb = 6\nwrite_mj_per_mb = 25\n"
        "[virtual]\nseed = 7\nvoltage_mv.0 = 3500\nvoltage_mv.100 = 3500\nlevel_step_percent = 0.1\n"
        "gauge_period_s = 3.5\ngauge_noise_percent = 0.3\n";

static const char wifi_text[] =
        "[profile]\nversion = 1\ndevice = connected\nmethod = virtual\n"
        "[battery]\nenergy_full_mwh = 15000\n"
        "[base]\npower_mw = 150\n"
        "[cpu 0]\ncpus = 0-1\n"
        "active_mw.384000 = 160\nactive_mw.1000000 = 300\nshared_mw.384000 = 40\nshared_mw.1000000 = 80\n"
        "[disk]\nread_mj_per_mb = 6\nwrite_mj_per_mb = 25\n"
        "[wifi]\non_mw = 60\nrx_mj_per_mb = 350\ntx_mj_per_mb = 550\nwake_mj = 120\n"
        "[virtual]\nseed = 7\nvoltage_mv.0 = 3500\nvoltage_mv.100 = 3500\nlevel_step_percent = 1\n"
        "gauge_period_s = 3.5\ngauge_noise_percent = 0.3\n";

/* The virtual device, with somebody beside it. */
struct watched {
        struct hardware hardware; /* first */
        struct hardware *device;
        double from_s, until_s;   /* since the start: may_go_on() says @answer */
        int answer;
        double charge_share;      /* of what is drawn, charge_now shows so much; 0: as it is */
        bool charge_coarse;       /* it shows whole percents alone */
        uint64_t charge_uah;      /* at the start */
        const char *load_of;      /* a mode whose load ends after ten seconds; */
        const char *refuses;      /* and one that cannot be held */
        double away_from_s, away_until_s; /* since the start: no access point can be reached */
        unsigned tries;           /* that were in vain, */
        double last_try_s;        /* the last of them */
        const char *loses;        /* a mode under which the connection is lost, */
        unsigned losses;          /* so many times */
        uint64_t start_ns, held_ns;
        char mode[MODE_NAME_MAX];
        bool taken;
        size_t begins, restores, applied_aside;
};

static struct watched *watched_of(struct hardware *hardware)
{
        return (struct watched *)hardware;
}

static int describe(struct hardware *hardware, struct hardware_description *ret)
{
        struct hardware *device = watched_of(hardware)->device;

        return device->ops->describe(device, ret);
}

static uint64_t now_ns(struct hardware *hardware)
{
        struct hardware *device = watched_of(hardware)->device;

        return device->ops->now_ns(device);
}

static int64_t realtime_ns(struct hardware *hardware)
{
        struct hardware *device = watched_of(hardware)->device;

        return device->ops->realtime_ns(device);
}

static int begin(struct hardware *hardware)
{
        watched_of(hardware)->taken = true;
        watched_of(hardware)->begins++;
        return 0;
}

static int may_go_on(struct hardware *hardware, const struct sample *sample, char *reason, size_t size)
{
        struct watched *self = watched_of(hardware);
        double s = (double)(sample->boottime_ns - self->start_ns) / (double)NS_PER_S;

        if (self->answer && s >= self->from_s && s < self->until_s) {
                snprintf(reason, size, "the charger is plugged in");
                return self->answer;
        }
        if (self->load_of && strcmp(self->mode, self->load_of) == 0 && sample->boottime_ns > self->held_ns + 10 * NS_PER_S) {
                snprintf(reason, size, "its load ended");
                return -EIO;
        }
        return 0;
}

static int wait_until(struct hardware *hardware, uint64_t until_ns)
{
        struct hardware *device = watched_of(hardware)->device;

        return device->ops->wait(device, until_ns);
}

static int read_sample(struct hardware *hardware, struct sample *sample)
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
        if (!err && self->charge_coarse)
                sample->battery.charge_now_uah = sample->battery.charge_full_uah * sample->battery.capacity_percent / 100;
        return err;
}

static bool is_away(const struct watched *self)
{
        double s = (double)(self->held_ns - self->start_ns) / (double)NS_PER_S;

        return s >= self->away_from_s && s < self->away_until_s;
}

static int apply(struct hardware *hardware, const struct mode *mode)
{
        struct watched *self = watched_of(hardware);

        if (self->losses > 0 && strcmp(self->mode, self->loses) == 0)
                self->losses--; /* that one is over */
        self->applied_aside += !self->taken;
        snprintf(self->mode, sizeof(self->mode), "%s", mode->name);
        self->held_ns = now_ns(hardware);
        if (self->refuses && strcmp(mode->name, self->refuses) == 0)
                return -EHOSTUNREACH;
        if (mode->wifi_on && is_away(self)) {
                self->tries++;
                self->last_try_s = (double)(self->held_ns - self->start_ns) / (double)NS_PER_S;
                self->device->ops->apply(self->device, mode);
                self->device->ops->wait(self->device, self->held_ns + 40 * NS_PER_S);
                return -ENOTCONN;
        }
        return self->device->ops->apply(self->device, mode);
}

static int restore(struct hardware *hardware)
{
        struct watched *self = watched_of(hardware);

        self->restores += self->taken;
        self->taken = false;
        return self->device->ops->restore(self->device);
}

static void close_watched(struct hardware *hardware)
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

/* As a machine where looks cost: between the ends of a mode only the battery is looked at. */
static int read_battery(struct hardware *hardware, struct sample *sample)
{
        int err = read_sample(hardware, sample);

        sample->have &= SAMPLE_BATTERY;
        return err;
}

struct test {
        struct watched hardware;
        const char *device;         /* as text; NULL: device_text */
        double stop_percent;        /* 0: a night that ends soon */
        struct hardware_ops light;  /* with read_battery(), where that is asked for */
        struct options options;
        struct night night;
        struct observation *list;
        size_t n;
        int err;
        struct log log;
        char said[1024];
        char folder[32], path[64];
};

static const volatile sig_atomic_t no_signal;

static void listen(void *data, enum log_level level, const char *sentence)
{
        snprintf(((struct test *)data)->said, sizeof(((struct test *)data)->said), "%s", sentence);
}

static void open_device(struct test *test)
{
        _cleanup_(profile_freep) struct profile *truth = NULL;
        const char *text = test->device ? test->device : device_text;

        check_int(profile_parse(text, strlen(text), "quiet", NULL, &truth), 0);
        check_int(hardware_virtual_open(truth, 1, 90.5, NULL, &test->hardware.device), 0);
        test->hardware.hardware.ops = test->light.name ? &test->light : &watched_ops;
        test->hardware.start_ns = now_ns(&test->hardware.hardware);
        test->night.hardware = &test->hardware.hardware;
        check_int(describe(&test->hardware.hardware, &test->night.description), 0);
}

/* A whole night, as main.c leads it; what it observed is in test->list. */
static void run(struct test *test, enum observation_method method)
{
        struct night *night = &test->night;

        test->options = (struct options){ .stop_percent = test->stop_percent > 0 ? test->stop_percent : 50, .passes = 1, .battery_limit_percent = INFINITY,
                                          .time_limit_h = 20, .seed = 1 };
        open_device(test);
        snprintf(test->folder, sizeof(test->folder), "/tmp/joulecast-pauses-XXXXXX");
        check(mkdtemp(test->folder) != NULL);
        snprintf(test->path, sizeof(test->path), "%s/observations.db", test->folder);
        night->options = &test->options;
        night->limits = (struct plan_limits){ INFINITY, INFINITY, INFINITY };
        night->method = method;
        test->log = (struct log){ listen, test };
        night->log = &test->log;
        check_int(plan_make(&night->description, &night->plan), 0);
        check_int(observations_open(test->path, true, NULL, &night->observations), 0);
        check_int(night_begin(night), 0);
        check_int(begin(night->hardware), 0);
        check_int(runner_open(night->hardware, &night->description, &no_signal, method == METHOD_TICKS, &night->runner), 0);
        check_int(night_open(night), 0);
        test->err = night_run(night);
        check_int(observations_read(night->observations, night->run.id, &test->list, &test->n), 0);
}

static void end(struct test *test)
{
        check(!test->hardware.taken);
        check_int(test->hardware.begins, test->hardware.restores);
        check_int(test->hardware.applied_aside, 0);
        observations_free(test->list, test->n);
        night_close(&test->night);
        runner_close(&test->night.runner);
        observations_close(test->night.observations);
        plan_clear(&test->night.plan);
        close_watched(&test->hardware.hardware);
        unlink(test->path);
        rmdir(test->folder);
}

static size_t count(const struct test *test, const char *mode, const char *rejected)
{
        size_t n = 0;

        for (size_t i = 0; i < test->n; i++)
                n += (!mode || strcmp(test->list[i].mode, mode) == 0) && strcmp(test->list[i].rejected, rejected) == 0;
        return n;
}

#define PLUGGED "paused: the charger is plugged in"

/* The dwell that was cut short comes again, and every state of the block is there as if nothing had been. */
static void gauge_pauses(void)
{
        struct test calm = { 0 }, test = { .hardware = { .answer = -EAGAIN, .from_s = 100, .until_s = 400 } };

        run(&calm, METHOD_GAUGE);
        run(&test, METHOD_GAUGE);
        check_int(test.err, 0);
        check_text(test.night.stopped, "all passes made");
        check_int(test.hardware.begins, 2);
        check_int(count(&test, NULL, PLUGGED), 1);
        check_int(test.n, calm.n + 1);
        check_int(test.night.n_rejected, 0);
        for (size_t i = 0; i < calm.night.plan.n; i++)
                check_int(count(&test, calm.night.plan.modes[i].mode.name, ""),
                          count(&calm, calm.night.plan.modes[i].mode.name, ""));
        for (size_t i = 0; i + 1 < test.n; i++)
                if (test.list[i].rejected[0])
                        check_text(test.list[i + 1].mode, test.list[i].mode);
        end(&calm);
        end(&test);
}

/* Plugged in before the gauge is known. */
static void gauge_pauses_while_learning(void)
{
        struct test test = { .hardware = { .answer = -EAGAIN, .from_s = 1, .until_s = 100 } };

        run(&test, METHOD_GAUGE);
        check_int(test.err, 0);
        check_text(test.night.stopped, "all passes made");
        check_int(test.hardware.begins, 2);
        check_int(count(&test, NULL, PLUGGED), 0);
        check_near(test.night.runner.gauge_period_s, 3.5, 0.1);
        end(&test);
}

/* The steps of the level are lost: the rest of one is burnt, then the same state comes again. */
static void percent_pauses(void)
{
        struct test test = { .hardware = { .answer = -EAGAIN, .from_s = 4000, .until_s = 7000 } };
        size_t paused = 0;

        run(&test, METHOD_PERCENT);
        check_int(test.err, 0);
        check_int(test.hardware.begins, 2);
        check_int(count(&test, NULL, PLUGGED), 1);
        while (paused < test.n && strcmp(test.list[paused].rejected, PLUGGED) != 0)
                paused++;
        if (paused + 2 < test.n) {
                check(test.list[paused + 1].burn);
                check_text(test.list[paused + 2].mode, test.list[paused].mode);
                check_text(test.list[paused + 2].rejected, "");
        }
        check(paused + 2 < test.n);
        end(&test);
}

static void pauses_end(void)
{
        struct test test = { .hardware = { .answer = -EAGAIN, .from_s = 4000, .until_s = 1e9 } };

        run(&test, METHOD_PERCENT);
        check_int(test.err, 0);
        check_text(test.night.stopped, "paused for two hours");
        check_int(test.hardware.begins, 1);
        end(&test);
}

static void too_hot(void)
{
        struct test test = { .hardware = { .answer = -ECANCELED, .from_s = 100, .until_s = 1e9 } };

        run(&test, METHOD_GAUGE);
        check_int(test.err, 0);
        check_text(test.night.stopped, "the charger is plugged in"); /* the hardware's words */
        check_int(test.hardware.begins, 1);
        end(&test);
}

/* A load that ends costs its own observations, and nobody else's. */
static void load_ends(void)
{
        struct test test = { .hardware = { .load_of = "disk.read", .refuses = "disk.write" } };

        run(&test, METHOD_GAUGE);
        check_int(test.err, 0);
        check_text(test.night.stopped, "all passes made");
        check_int(test.hardware.begins, 1);
        check_int(count(&test, "disk.read", "its load ended"), 1);
        check_int(count(&test, "disk.write", "it cannot be held: No route to host"), 1);
        check_int(count(&test, "disk.read", "") + count(&test, "disk.write", ""), 0);
        check_int(test.night.n_rejected, 2);
        end(&test);
}

static size_t wifi_measured(const struct test *test)
{
        size_t n = 0;

        for (size_t i = 0; i < test->n; i++) {
                const struct planned_mode *mode = plan_find(&test->night.plan, test->list[i].mode);

                n += mode && mode->mode.wifi_on && test->list[i].rejected[0] == '\0';
        }
        return n;
}

/* Every mode of the block, for which the access point was waited. */
static void check_all_measured(const struct test *test)
{
        for (size_t i = 0; i < test->night.plan.n; i++)
                if (test->night.plan.modes[i].role == ROLE_BLOCK)
                        check(count(test, test->night.plan.modes[i].mode.name, "") > 0);
}

/*
 * The access point goes and comes back: what needs it is measured at the end of the pass or block, and what follows a
 * try in vain is none the worse for it.
 */
static void access_point_comes_back(void)
{
        struct test calm = { .device = wifi_text }, gauge = { .device = wifi_text }, percent = { .device = wifi_text };

        run(&calm, METHOD_GAUGE);
        check_int(calm.hardware.tries, 0);
        gauge.hardware.away_until_s = 120;
        run(&gauge, METHOD_GAUGE);
        check_int(gauge.err, 0);
        check_text(gauge.night.stopped, "all passes made");
        check_int(gauge.hardware.tries, 1);
        check_int(gauge.n, calm.n);
        check(wifi_measured(&calm) > 0);
        check_int(wifi_measured(&gauge), wifi_measured(&calm));
        check_int(gauge.night.n_rejected, 0);
        check_int(gauge.night.away.tries, 0);
        check_all_measured(&gauge);
        end(&calm);
        end(&gauge);

        percent.hardware.away_until_s = 6000;
        run(&percent, METHOD_PERCENT);
        check_int(percent.err, 0);
        check(percent.hardware.tries >= 1 && percent.hardware.tries <= 4); /* after 0, 10, 30 and 70 minutes */
        check_int(percent.night.n_rejected, 0);
        check_int(percent.night.away.tries, 0);
        check_all_measured(&percent);
        end(&percent);
}

/* One that stays away costs six tries, and nothing of the other modes; one that went in between comes again, too. */
static void access_point_stays_away(void)
{
        struct test gauge = { .device = wifi_text }, percent = { .device = wifi_text };

        gauge.hardware.away_until_s = percent.hardware.away_until_s = 1e9;
        run(&gauge, METHOD_GAUGE);
        check_int(gauge.err, 0);
        check_text(gauge.night.stopped, "all passes made");
        check_int(gauge.hardware.tries, 2); /* and once at the end of its pass */
        check_int(wifi_measured(&gauge), 0);
        end(&gauge);
        run(&percent, METHOD_PERCENT);
        check_int(percent.err, 0);
        check(percent.hardware.tries >= 2 && percent.hardware.tries <= 6);
        check_int(wifi_measured(&percent), 0);
        check_int(percent.night.n_rejected, 0);
        end(&percent);
}

/*
 * With a follower: what WiFi costs is not waited for while it cannot be measured, and the night ends when the rest is
 * known. It asks once more before that, and an access point that is back by then is measured after all.
 */
static void precision_without_access_point(void)
{
        struct test gone = { .device = wifi_text, .stop_percent = 4 }, back = { .device = wifi_text, .stop_percent = 4 };

        gone.hardware.away_until_s = 1e9;
        run(&gone, METHOD_PERCENT);
        check_int(gone.err, 0);
        check(gone.night.child != NULL);
        check_text(gone.night.stopped, "precision reached");
        check_int(wifi_measured(&gone), 0);

        back.hardware.away_until_s = gone.hardware.last_try_s - 1;
        end(&gone);
        run(&back, METHOD_PERCENT);
        check_int(back.err, 0);
        check_text(back.night.stopped, "precision reached");
        check(wifi_measured(&back) > 0);
        check_int(back.night.away.tries, 0);
        end(&back);
}

/* Lost in the middle of a mode: that comes again, too, and it is not the mode that did not do as it was asked. */
static void access_point_goes_in_between(void)
{
        struct test test = { .device = wifi_text, .hardware = { .loses = "wifi.on", .losses = 1 } };

        run(&test, METHOD_PERCENT);
        check_int(test.err, 0);
        check_int(count(&test, "wifi.on", "WiFi was associated only 0 % of the time"), 1);
        check_all_measured(&test);
        check_int(test.night.refused[plan_find(&test.night.plan, "wifi.on") - test.night.plan.modes], 0);
        check_int(test.night.away.tries, 0);
        end(&test);
}

static void burn_must_run(void)
{
        struct test gauge = { .hardware = { .refuses = "burn" } }, percent = { .hardware = { .load_of = "burn" } };

        run(&gauge, METHOD_GAUGE);
        check_int(gauge.err, -EIO);
        end(&gauge);
        run(&percent, METHOD_PERCENT);
        check_int(percent.err, -EIO);
        end(&percent);
}

/* charge_now that is the percentage once more, that stands, and that runs at half the pace. */
static void charge_lies(void)
{
        struct test coarse = { .hardware = { .charge_coarse = true } }, stands = { .hardware = { .charge_share = 1e-9 } },
                    stray = { .hardware = { .charge_share = 0.5 } };

        run(&coarse, METHOD_TICKS);
        check_int(coarse.err, -EPROTO);
        check_text(coarse.said, "charge_now steps by 1.00 %, hardly finer than the percentage");
        end(&coarse);
        run(&stands, METHOD_TICKS);
        check_int(stands.err, -EPROTO);
        check_text(stands.said, "charge_now stands still while the percentage falls");
        end(&stands);
        run(&stray, METHOD_TICKS);
        check_int(stray.err, -EPROTO);
        check(strstr(stray.said, " % while the percentage fell by ") != NULL);
        end(&stray);
}

static double told_bytes;

static void limit_wifi(struct hardware *hardware, double bytes)
{
        told_bytes = bytes;
}

/* The hardware's own end is where the plan's is: 4 GB by percent, 500 MB by what is over soon, else what was said. */
static void moves_no_more_than_planned(void)
{
        static const struct {
                enum observation_method method;
                double said, want;
        } cases[] = {
                { METHOD_PERCENT, NAN, 4e9 }, { METHOD_GAUGE, NAN, 500e6 }, { METHOD_TICKS, NAN, 500e6 },
                { METHOD_PERCENT, 1e9, 1e9 }, { METHOD_GAUGE, 16e9, 16e9 }, { METHOD_GAUGE, 0, 0 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct hardware_ops ops = { .limit_wifi = limit_wifi };
                struct hardware hardware = { &ops };
                struct options options = { .passes = 4, .write_limit_bytes = 16e9, .wifi_limit_bytes = cases[i].said };
                struct night night = { .options = &options, .hardware = &hardware, .method = cases[i].method };

                told_bytes = NAN;
                night_limits(&night);
                check_near(night.limits.wifi_bytes, cases[i].want, 0);
                check_near(told_bytes, cases[i].want, 0);
                options.device = "virtual:any";
                told_bytes = NAN;
                night_limits(&night);
                check(isinf(night.limits.wifi_bytes) && isnan(told_bytes));
        }
}

/* What has a state and no counter is the mode's own, also where nobody looked at it in between. */
static void states_are_the_modes(void)
{
        static const char device[] =
                "[profile]\nversion = 1\ndevice = lit\nmethod = virtual\n"
                "[battery]\nenergy_full_mwh = 15000\n"
                "[base]\npower_mw = 150\n"
                "[cpu 0]\ncpus = 0\nactive_mw.384000 = 160\nshared_mw.384000 = 40\n"
                "[display]\nmax_brightness = 255\npower_mw.5 = 300\npower_mw.255 = 800\n"
                "[wifi]\non_mw = 60\nrx_mj_per_mb = 350\ntx_mj_per_mb = 550\nwake_mj = 120\n"
                "[virtual]\nseed = 7\nvoltage_mv.0 = 3500\nvoltage_mv.100 = 3500\nlevel_step_percent = 1\n"
                "level_refresh_s = 10\n";
        struct test test = { .device = device, .light = watched_ops };
        size_t lit = 0, associated = 0;

        test.light.read_battery = read_battery;
        run(&test, METHOD_PERCENT);
        check_int(test.err, 0);
        check_int(test.night.n_rejected, 0);
        for (size_t i = 0; i < test.n; i++) {
                const struct observation *observation = &test.list[i];
                const struct usage *usage = &observation->usage;
                double s = (double)observation->elapsed_ns;
                unsigned brightness;

                if (sscanf(observation->mode, "display.%u", &brightness) == 1) {
                        check_int(usage->n_screen, 1);
                        check_int(usage->n_screen ? usage->screen[0].brightness : 0, brightness);
                        check_near((double)(usage->n_screen ? usage->screen[0].on_ns : 0) / s, 1, 0.02);
                        lit++;
                } else if (!observation->burn && strcmp(observation->kind, "wifi") == 0) {
                        check_near((double)usage->wifi_on_ns / s, 1, 0.02);
                        associated++;
                } else if (strcmp(observation->kind, "idle") == 0) {
                        check_int(usage->n_screen, 0);
                        check_int(usage->wifi_on_ns, 0);
                }
        }
        check(lit >= 2 && associated >= 2);
        end(&test);
}

/* With the folder of joulecast-fit: nights with a follower. */
int main(int argc, char **argv)
{
        signal(SIGPIPE, SIG_IGN);
        if (argc > 1) {
                check_int(setenv("PATH", argv[1], 1), 0);
                precision_without_access_point();
                return check_result();
        }
        gauge_pauses();
        gauge_pauses_while_learning();
        percent_pauses();
        pauses_end();
        too_hot();
        load_ends();
        access_point_comes_back();
        access_point_stays_away();
        access_point_goes_in_between();
        states_are_the_modes();
        burn_must_run();
        moves_no_more_than_planned();
        charge_lies();
        return check_result();
}
