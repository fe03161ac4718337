/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* joulecast-calibrate: holds a device in one state after another, watches its battery, and has a profile fitted. */

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consent.h"
#include "describe.h"
#include "dry-run.h"
#include "kept-log.h"
#include "paths.h"
#include "progress.h"
#include "refuse.h"
#include "restore-now.h"
#include "rivals.h"
#include "schedule.h"
#include "settings.h"
#include "units.h"
#include "util.h"
#include "watchdog.h"

#define START_PERCENT 95.0 /* of a virtual device */

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
        stop = 1;
}

static void catch_signals(void)
{
        struct sigaction action = { .sa_handler = on_signal };

        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
        sigaction(SIGHUP, &action, NULL);
        signal(SIGPIPE, SIG_IGN);
        signal(SIGCHLD, SIG_DFL); /* ignored by whoever started us, it would take the exit codes of our children */
}

/* All that one command needs; main() fills it step by step. */
struct calibration {
        struct options options;
        struct log log;
        struct kept_log kept;
        char *profile, *observations, *usage;
        struct night night;
        char *journal;
        struct machine_hardware machine;
        bool runner;               /* is open */
        char **arguments;          /* as they were given, without --schedule */
        bool watched;              /* this is the watchdog, and the calibration is over: */
        int status;                /* its exit status */
};

static int find_files(struct calibration *calibration)
{
        const struct options *options = &calibration->options;
        const char *device = options->device;
        int err;

        err = options->profile ? ((calibration->profile = strdup(options->profile)) ? 0 : -ENOMEM)
                               : paths_profile(device, true, &calibration->profile);
        if (!err)
                err = options->observations
                              ? ((calibration->observations = strdup(options->observations)) ? 0 : -ENOMEM)
                              : paths_observations(device, &calibration->observations);
        if (!err)
                err = options->database ? ((calibration->usage = strdup(options->database)) ? 0 : -ENOMEM)
                                        : paths_usage(device, false, &calibration->usage);
        if (!err)
                err = paths_journal(&calibration->journal);
        if (err)
                log_error(&calibration->log, "%s: no place for its files: %s", device ? device : "this machine",
                          strerror(-err));
        return err;
}

static int open_virtual(struct calibration *calibration, double start_percent, uint64_t seed, int64_t not_before_ns)
{
        struct night *night = &calibration->night;
        int err;

        if (night->hardware)
                night->hardware->ops->close(night->hardware);
        night->hardware = NULL;
        err = hardware_virtual_load(calibration->options.device, seed, start_percent, not_before_ns,
                                    &calibration->log, &night->hardware);
        return err ? err : night->hardware->ops->describe(night->hardware, &night->description);
}

/* A folder with another machine's sys and proc: to look at, for a dry run. */
static int look_at_tree(struct calibration *calibration)
{
        struct hardware_description *description = &calibration->night.description;
        const char *machine = calibration->options.machine;
        _cleanup_close_ int root_fd = open(machine, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (root_fd < 0) {
                int err = -errno;

                log_error(&calibration->log, "%s: cannot be read: %s", machine, strerror(-err));
                return err;
        }
        machine_describe(root_fd, description);
        description->wifi_tx = description->wifi && calibration->options.wifi_peer;
        description->wifi_rx = description->wifi_tx || (description->wifi && calibration->options.wifi_url);
        return 0;
}

static int open_this_machine(struct calibration *calibration)
{
        const struct options *options = &calibration->options;
        struct night *night = &calibration->night;
        int err;

        calibration->machine = (struct machine_hardware){
                .journal = calibration->journal,
                .disks = options->disks,
                .n_disks = options->n_disks,
                .write_limit_bytes = options->write_limit_bytes,
                .wifi_url = options->wifi_url,
                .wifi_peer = options->wifi_peer,
                .allow_disconnect = options->allow_disconnect,
                .force_discharge = options->force_discharge,
                .log = &calibration->log,
        };
        err = hardware_machine_open(&calibration->machine, &night->hardware);
        return err ? err : night->hardware->ops->describe(night->hardware, &night->description);
}

static int open_device(struct calibration *calibration)
{
        double start = isnan(calibration->options.start_percent) ? START_PERCENT : calibration->options.start_percent;

        if (calibration->options.device) {
                int err = open_virtual(calibration, start, calibration->options.seed, 0);

                calibration->night.description.battery = true;
                return err;
        }
        return calibration->options.machine ? look_at_tree(calibration) : open_this_machine(calibration);
}

static enum observation_method choose_method(const struct calibration *calibration)
{
        const struct hardware_description *description = &calibration->night.description;

        switch (calibration->options.method) {
        case CHOICE_PERCENT:
                return METHOD_PERCENT;
        case CHOICE_GAUGE:
                return METHOD_GAUGE;
        case CHOICE_TICKS:
                return METHOD_TICKS;
        case CHOICE_AUTO:
                break;
        }
        return description->current_sensor ? METHOD_GAUGE : description->fine_level ? METHOD_TICKS : METHOD_PERCENT;
}

static int make_plan(struct calibration *calibration)
{
        struct night *night = &calibration->night;
        int err;

        night->options = &calibration->options;
        night->log = &calibration->log;
        night->method = choose_method(calibration);
        err = calibration->options.sapp ? plan_make_sapp(&night->description, &night->plan)
                                        : plan_make(&night->description, &night->plan);
        if (err)
                log_error(&calibration->log, "%s: no plan can be made: %s", night->description.device,
                          err == -ENODATA ? "it shows no CPU to measure" : strerror(-err));
        else
                night_limits(night);
        return err;
}

static bool pins_frequencies(const struct hardware_description *description)
{
        for (size_t i = 0; i < description->n_policies; i++)
                if (description->policies[i].n_khz > 1)
                        return true;
        return false;
}

static int refuse_machine(const struct calibration *calibration)
{
        if (calibration->options.device)
                return 0;
        if (!calibration->night.description.battery) {
                log_error(&calibration->log, "this machine has no battery to calibrate by; name a virtual device "
                          "with --device virtual:NAME, or see what would be done with --dry-run");
                return -ENODEV;
        }
        if (geteuid() != 0 && pins_frequencies(&calibration->night.description)) {
                log_error(&calibration->log, "only root can pin this machine's CPU frequencies; start it again with "
                          "sudo, or see what would be done with --dry-run");
                return -EPERM;
        }
        return 0;
}

static bool changes_machine(const struct calibration *calibration)
{
        return !calibration->options.device && !calibration->options.dry_run;
}

/* As begin_night() will find it, before anybody is asked: a virtual device is looked at there alone. */
static int refuse_battery(const struct calibration *calibration)
{
        const struct night *night = &calibration->night;
        struct sample sample = { 0 };
        struct look look;
        int err;

        if (!changes_machine(calibration))
                return 0;
        err = night->hardware->ops->read_battery(night->hardware, &sample);
        if (err)
                log_error(&calibration->log, "the battery cannot be read: %s", strerror(-err));
        look_at(&sample, night->method == METHOD_TICKS, &look);
        sample_clear(&sample);
        return err ? err : refuse_start(&night->description, &look, night->method, &calibration->log);
}

/* The last refusal; from here on warnings are said. */
static int ask(struct calibration *calibration, const struct dry_run *dry_run, const char *when)
{
        int err = consent_needed(&calibration->options);

        if (err < 0) {
                log_error(&calibration->log, "nobody is there to be asked; say --yes to start without a question");
                return err;
        }
        kept_log_release(&calibration->kept, &calibration->log);
        err = err ? consent_ask(dry_run, when) : 0;
        if (err)
                log_error(&calibration->log, "not started, and nothing was changed");
        return err;
}

/* A resumed virtual device goes on where it was, with new noise. */
static int go_on(struct calibration *calibration)
{
        const struct night *night = &calibration->night;
        double start = calibration->options.start_percent, left_at = night_left_at(night);

        if (!calibration->options.device || isnan(left_at))
                return 0;
        return open_virtual(calibration, isnan(start) ? fmin(fmax(left_at, 0), 100) : start,
                            calibration->options.seed + UINT64_C(0x9e3779b97f4a7c15) * night->n_before,
                            night_ended_ns(night) + (int64_t)NS_PER_S);
}

/* Before the night, by a trial: what cannot be written would be found only after it. */
static int check_profile_path(const struct calibration *calibration)
{
        _cleanup_free_ char *trial = NULL;
        int err = util_make_parent(calibration->profile, 0755), fd;

        if (!err && asprintf(&trial, "%s.XXXXXX", calibration->profile) < 0)
                return -ENOMEM;
        if (!err) {
                fd = mkostemp(trial, O_CLOEXEC);
                err = fd < 0 ? -errno : 0;
                if (fd >= 0) {
                        unlink(trial);
                        close(fd);
                }
        }
        if (err)
                log_error(&calibration->log, "%s: the profile could not be written there: %s; name another file with "
                          "--profile", calibration->profile, strerror(-err));
        return err;
}

/* From here on the device is ours, and whatever happens it is given back. */
static int take_device(struct night *night)
{
        int err = night->hardware->ops->begin ? night->hardware->ops->begin(night->hardware) : 0;

        if (err)
                log_error(night->log, "%s: cannot be taken for a calibration: %s", night->description.device,
                          strerror(-err));
        return err;
}

static int begin_night(struct calibration *calibration)
{
        struct night *night = &calibration->night;
        int err = night_begin(night);

        if (!err)
                err = go_on(calibration);
        if (!err)
                err = take_device(night);
        if (!err)
                err = runner_open(night->hardware, &night->description, &stop, night->method == METHOD_TICKS,
                                  &night->runner);
        calibration->runner = !err;
        if (!err)
                err = refuse_start(&night->description, &night->runner.look, night->method, night->log);
        return err ? err : night_open(night);
}

static int open_night(struct calibration *calibration)
{
        struct night *night = &calibration->night;
        int err;

        night->database = access(calibration->usage, R_OK) == 0 ? calibration->usage : NULL;
        err = observations_open(calibration->observations, true, night->log, &night->observations);
        if (!err)
                err = progress_open(calibration->options.json, &night->progress);
        return err ? err : begin_night(calibration);
}

/* The gauge that `auto` took does not do what it shows: the percentage always does something. */
static int begin_again_by_percent(struct calibration *calibration)
{
        struct night before = calibration->night;
        int err;

        night_close(&before);
        runner_close(&before.runner);
        plan_clear(&before.plan);
        calibration->runner = false;
        calibration->night = (struct night){
                .options = before.options,
                .log = before.log,
                .database = before.database,
                .hardware = before.hardware,
                .description = before.description,
                .observations = before.observations,
                .progress = before.progress,
        };
        calibration->options.method = CHOICE_PERCENT;
        log_warning(&calibration->log, "it goes on by the steps of the battery's percentage");
        err = make_plan(calibration);
        if (!err)
                err = begin_night(calibration);
        if (err)
                return err;
        calibration->night.runner.drawn_percent = NAN; /* nor is what it counts */
        progress_begin(calibration->night.progress, &calibration->night);
        return night_run(&calibration->night);
}

static int fit(struct calibration *calibration, struct fit_result *result)
{
        struct night *night = &calibration->night;
        struct fit_request request = {
                .observations = calibration->observations,
                .run = night->run.id,
                .estimator = night->plan.sapp ? "sapp" : "regression",
                .profile = calibration->profile,
        };
        int err;

        fit_child_close(night->child);
        night->child = NULL;
        err = fit_child_run(&request, result);
        if (err == -ENOENT)
                log_error(&calibration->log, "joulecast-fit is not there, so there is no profile yet; the "
                          "observations are kept in %s", calibration->observations);
        else if (err)
                log_error(&calibration->log, "nothing could be fitted (%s); the observations are kept in %s",
                          night->stopped ? night->stopped : "", calibration->observations);
        return err;
}

static int run(struct calibration *calibration)
{
        struct night *night = &calibration->night;
        struct fit_result result = { 0 };
        int err;

        progress_begin(night->progress, night);
        err = night_run(night);
        if (err == -EPROTO && calibration->options.method == CHOICE_AUTO)
                err = begin_again_by_percent(calibration);
        if (err == -EINTR) {
                night->stopped = "interrupted";
                progress_interrupted(night->progress, night);
                log_error(&calibration->log, "stopped after %zu observations, which are kept; go on with the same "
                          "command and --resume", night->n);
                return err;
        }
        if (err) {
                log_error(&calibration->log, "the night ended early: %s; its observations are kept in %s",
                          err == -EPROTO ? "calibrate with --method percent" : strerror(-err),
                          calibration->observations);
                return err;
        }
        err = fit(calibration, &result);
        progress_done(night->progress, night, err ? NULL : &result, calibration->profile);
        return err;
}

/* From here on whatever happens is put right. In the watchdog it returns at the end of all. */
static int set_watch(struct calibration *calibration)
{
        struct watchdog watchdog = { .journal = calibration->journal, .log = &calibration->log };
        int err;

        if (!changes_machine(calibration))
                return 0;
        watchdog.root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (watchdog.root_fd < 0)
                return -errno;
        fflush(stdout); /* else the worker says it again */
        err = watchdog_start(&watchdog, &calibration->status);
        close(watchdog.root_fd);
        calibration->watched = err > 0;
        return err;
}

/* Held until this process and its worker have ended. */
static int be_the_only_one(const struct calibration *calibration)
{
        return changes_machine(calibration) ? settings_lock(calibration->journal, &calibration->log) : 0;
}

static int refuse_rivals(const struct calibration *calibration)
{
        _cleanup_close_ int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return changes_machine(calibration) ? rivals_refuse(root_fd, &calibration->log) : 0;
}

static int unschedule(const struct calibration *calibration)
{
        int err = schedule_disarm(SCHEDULE_FOLDER, &calibration->log);

        if (err == -ENOENT)
                printf("No calibration was scheduled.\n");
        else if (!err)
                printf("No calibration will start by itself.\n");
        return err == -ENOENT ? 0 : err;
}

/* Asks now, for nobody will be there then; the rest is the timer's. */
static int schedule(struct calibration *calibration, const struct dry_run *dry_run)
{
        struct schedule schedule = {
                .folder = SCHEDULE_FOLDER,
                .arguments = calibration->arguments,
                .when = schedule_next(calibration->options.schedule, time(NULL)),
        };
        _cleanup_free_ char *program = realpath("/proc/self/exe", NULL), *working = realpath(".", NULL);
        char when[64];
        struct tm parts;
        int err;

        schedule.program = program;
        schedule.working = working;
        if (!program || !working)
                return -errno;
        if (geteuid() != 0) {
                log_error(&calibration->log, "only root can schedule a calibration; start it again with sudo");
                return -EPERM;
        }
        strftime(when, sizeof(when), "on %A, %Y-%m-%d at %H:%M", localtime_r(&schedule.when, &parts));
        err = ask(calibration, dry_run, when);
        if (!err)
                err = schedule_arm(&schedule, &calibration->log);
        if (!err)
                printf("Scheduled: it starts %s. Leave the machine unplugged and charged then; `joulecast calibrate "
                       "--schedule off` takes it back.\n", when);
        return err;
}

static int calibrate(struct calibration *calibration)
{
        struct night *night = &calibration->night;
        struct dry_run dry_run = {
                .options = &calibration->options,
                .description = &night->description,
                .plan = &night->plan,
                .limits = &night->limits,
        };
        int err = find_files(calibration);

        if (!err && calibration->options.schedule && strcmp(calibration->options.schedule, "off") == 0)
                return unschedule(calibration);
        if (!err && calibration->options.restore)
                return restore_by_hand(calibration->journal, calibration->options.json, calibration->options.yes,
                                       &calibration->log);
        if (!err && changes_machine(calibration))
                err = restore_first(calibration->journal, &calibration->log);
        kept_log_begin(&calibration->kept, &calibration->log);
        if (!err)
                err = open_device(calibration);
        if (!err)
                err = make_plan(calibration);
        if (err)
                return err;
        dry_run.method = night->method;
        dry_run.battery = night->description.battery;
        dry_run.profile = calibration->profile;
        dry_run.observations = calibration->observations;
        if (calibration->options.dry_run) {
                kept_log_release(&calibration->kept, &calibration->log);
                dry_run_print(&dry_run);
                return 0;
        }
        err = refuse_machine(calibration);
        if (!err)
                err = check_profile_path(calibration);
        if (!err)
                err = refuse_rivals(calibration);
        if (!err && calibration->options.schedule)
                return schedule(calibration, &dry_run);
        if (!err)
                err = be_the_only_one(calibration);
        if (!err)
                err = refuse_battery(calibration);
        if (!err)
                err = ask(calibration, &dry_run, "now");
        if (!err)
                err = set_watch(calibration);
        if (!err)
                err = open_night(calibration);
        return err ? err : run(calibration);
}

static void clean_up(struct calibration *calibration)
{
        struct night *night = &calibration->night;

        night_close(night);
        progress_close(night->progress);
        if (calibration->runner)
                runner_close(&night->runner);
        observations_close(night->observations);
        plan_clear(&night->plan);
        if (night->hardware)
                night->hardware->ops->close(night->hardware);
        kept_log_drop(&calibration->kept);
        free(calibration->profile);
        free(calibration->observations);
        free(calibration->usage);
        free(calibration->journal);
}

int main(int argc, char **argv)
{
        static char name[] = "joulecast-calibrate";
        struct calibration calibration = { .log = { .handler = log_to_stderr, .data = name } };
        int err = options_parse(argc, argv, &calibration.log, &calibration.options);

        if (err)
                return err > 0 ? 0 : 2;
        calibration.arguments = argv + 1;
        if (calibration.options.schedule)
                memmove(argv + calibration.options.schedule_at, argv + calibration.options.schedule_end,
                        (size_t)(argc + 1 - calibration.options.schedule_end) * sizeof(*argv));
        catch_signals();
        err = calibrate(&calibration);
        if (calibration.watched) /* what was opened before the worker began is the worker's */
                exit(calibration.status);
        clean_up(&calibration);
        return err ? 1 : 0;
}
