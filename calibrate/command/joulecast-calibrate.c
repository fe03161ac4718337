/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * joulecast-calibrate: holds a device in one state after another, watches its battery, and has a profile
 * fitted.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "calibration.h"
#include "consent.h"
#include "dry-run.h"
#include "hold/lock.h"
#include "hold/settings.h"
#include "hold/watchdog.h"
#include "model/json-print.h"
#include "schedule.h"
#include "util/util.h"
#include "util/words.h"

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
        /* If our parent ignored it, waitpid() would not work. */
        signal(SIGCHLD, SIG_DFL);
}

static void keep(void *data, enum log_level level, const char *sentence)
{
        struct kept_log *kept = data;
        struct kept_sentence *list = NULL;
        char *text = level == LOG_LEVEL_ERROR ? NULL : strdup(sentence);

        if (text)
                list = realloc(kept->list, (kept->n + 1) * sizeof(*list));
        if (!list) { /* an error, or no memory */
                free(text);
                kept->behind.handler(kept->behind.data, level, sentence);
                return;
        }
        kept->list = list;
        kept->list[kept->n++] = (struct kept_sentence){ level, text };
}

/* From now on only errors pass @log; @kept must not move. */
static void kept_log_begin(struct kept_log *kept, struct log *log)
{
        *kept = (struct kept_log){ .behind = *log };
        *log = (struct log){ .handler = keep, .data = kept };
}

static void kept_log_drop(struct kept_log *kept)
{
        for (size_t i = 0; i < kept->n; i++)
                free(kept->list[i].text);
        free(kept->list);
        kept->list = NULL;
        kept->n = 0;
}

/* Logs the kept messages, and restores @log. Safe to repeat. */
static void kept_log_release(struct kept_log *kept, struct log *log)
{
        if (log->handler != keep)
                return;
        *log = kept->behind;
        for (size_t i = 0; i < kept->n; i++)
                log->handler(log->data, kept->list[i].level, kept->list[i].text);
        kept_log_drop(kept);
}

/* The last refusal; from here on warnings are printed. */
static int ask(struct calibration *calibration, const struct prospect *prospect, const char *when)
{
        int err = consent_needed(&calibration->options), failed = 0;

        if (err < 0) {
                log_error(&calibration->log,
                          "no terminal to ask on; use --yes to start without a question");
                return err;
        }
        kept_log_release(&calibration->kept, &calibration->log);
        if (err || calibration_changes_machine(calibration))
                failed = consent_print(stderr, prospect, when);
        if (failed)
                return failed;
        err = err ? consent_ask() : 0;
        if (err)
                log_error(&calibration->log, "not started, and nothing was changed");
        return err;
}

/* From here on the machine is always restored. In the watchdog this returns at the very end. */
static int set_watch(struct calibration *calibration)
{
        struct watchdog watchdog = { .journal = calibration->journal, .log = &calibration->log };
        int err;

        if (!calibration_changes_machine(calibration))
                return 0;
        watchdog.root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (watchdog.root_fd < 0)
                return -errno;
        fflush(stdout); /* otherwise the worker prints it again */
        err = watchdog_start(&watchdog, &calibration->status);
        close(watchdog.root_fd);
        if (err > 0)
                calibration->watched = true;
        return err;
}

/* Held until this process and its worker have ended. */
static int be_the_only_one(const struct calibration *calibration)
{
        if (!calibration_changes_machine(calibration))
                return 0;
        return settings_lock(calibration->journal, &calibration->log);
}

static int unschedule(const struct calibration *calibration)
{
        int err = schedule_disarm(SCHEDULE_FOLDER, &calibration->log);

        if (err == -ENOENT)
                puts(_("No calibration was scheduled."));
        else if (!err)
                puts(_("The scheduled calibration is cancelled."));
        return err == -ENOENT ? 0 : err;
}

/* Asks now; the timer starts it later. */
static int schedule(struct calibration *calibration, const struct prospect *prospect)
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
                log_error(&calibration->log,
                          "only root can schedule a calibration; start it again with sudo");
                return -EPERM;
        }
        strftime(when, sizeof(when), _("on %Y-%m-%d at %H:%M"), localtime_r(&schedule.when, &parts));
        err = ask(calibration, prospect, when);
        if (!err)
                err = schedule_arm(&schedule, &calibration->log);
        if (!err)
                printf(_("Scheduled: it starts %s. The machine must be charged and unplugged then; `joulecast "
                         "calibrate --schedule off` cancels it.\n"),
                       when);
        return err;
}

/* Restores settings that an interrupted calibration left changed: before the next one, or by --restore. */

#define END_TRIES 300 /* attempts, 0.1 s apart: the other process may be writing to a slow disk */

static int restore(const char *journal, const struct log *log, struct restore_report *report)
{
        _cleanup_close_ int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return root_fd < 0 ? -errno : settings_restore(root_fd, journal, log, report);
}

static void say_again(const struct log *log)
{
        log_error(log,
                  "everything is restored, but so soon after a boot systemd may still change radios and "
                  "brightness to what it saved; repeat this in some seconds");
}

/*
 * 0, also if nothing was left to restore; logs how many were restored. A negative errno: something could not be
 * restored, and no calibration may start.
 */
static int restore_first(const char *journal, const struct log *log)
{
        struct restore_report report;
        bool there = access(journal, F_OK) == 0;
        int err = restore(journal, log, &report);

        if (err == -EIO)
                log_error(log,
                          "an earlier calibration was interrupted, and %zu of its settings could not be "
                          "restored; no calibration starts before they are",
                          report.failed);
        else if (err == -EAGAIN)
                say_again(log);
        else if (!err && there)
                log_warning(log,
                            "an earlier calibration was interrupted; its settings: %zu restored, %zu unchanged, "
                            "%zu left because another program has changed them",
                            report.restored, report.kept, report.left);
        return err;
}

/* Prints the restored settings; the log is for the user here. */
static void on_sentence(void *data, enum log_level level, const char *sentence)
{
        const struct log *log = data;

        if (level == LOG_LEVEL_DEBUG)
                printf("%s\n", sentence);
        else
                log_write(log, level, "%s", sentence);
}

static void print_json(const struct restore_report *report)
{
        printf("{\"restored\": %zu, \"kept\": %zu, \"left\": %zu, \"failed\": %zu}\n", report->restored,
               report->kept, report->left, report->failed);
}

static void print_text(const struct restore_report *report)
{
        printf(_("%zu restored, %zu unchanged, %zu left because another program has changed them, %zu failed\n"),
               report->restored, report->kept, report->left, report->failed);
}

/* The lock may outlive the watchdog that wrote its pid there by a moment. */
static bool is_calibration(pid_t pid)
{
        char path[32], comm[32];

        snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
        return pid > 0 && util_read_at(AT_FDCWD, path, comm, sizeof(comm)) > 0 &&
               strncmp(comm, "joulecast-", 10) == 0;
}

/* Its watchdog ends in order: the worker stops, and everything is restored before the lock is released. */
static int end_it(const char *journal, const struct log *log)
{
        struct timespec moment = { .tv_nsec = 100000000 };
        pid_t pid = 0;
        int err = lock_take(journal, &pid);

        if (err == -EBUSY && is_calibration(pid))
                kill(pid, SIGTERM);
        for (int i = 0; err == -EBUSY && i < END_TRIES; i++) {
                nanosleep(&moment, NULL);
                err = lock_take(journal, NULL);
        }
        if (err)
                log_error(log, "the running calibration (process %d) does not end: %s", (int)pid,
                          strerror(-err));
        return err; /* held until this process ends */
}

/*
 * --restore: prints each setting and the sums, or one JSON object. @end_running: ends a running calibration
 * first, which restores everything.
 */
static int restore_by_hand(const char *journal, bool json, bool end_running, const struct log *log)
{
        struct log copy = *log, said = { .handler = on_sentence, .data = &copy };
        struct restore_report report;
        bool there = access(journal, F_OK) == 0, ended = there && end_running;
        int err = ended ? end_it(journal, log) : 0;

        if (err)
                return err;
        there = access(journal, F_OK) == 0;
        err = restore(journal, json ? log : &said, &report);
        if (err && err != -EIO && err != -EAGAIN)
                return err; /* logged */
        if (err == -EAGAIN)
                say_again(log);
        if (json)
                print_json(&report);
        else if (there)
                print_text(&report);
        else if (ended)
                puts(_("The running calibration was ended and has restored everything."));
        else
                puts(geteuid() ? _("No calibration of yours (root's are restored by root) was interrupted; "
                                   "there is nothing to restore.")
                               : _("No calibration was interrupted; there is nothing to restore."));
        return err;
}

static int calibrate(struct calibration *calibration)
{
        struct run *run = &calibration->run;
        struct prospect prospect = {
                .options = &calibration->options,
                .description = &run->description,
                .plan = &run->plan,
                .request = &run->request,
                .limits = &run->limits,
        };
        int err = calibration_find_files(calibration);

        if (!err && calibration->options.schedule && strcmp(calibration->options.schedule, "off") == 0)
                return unschedule(calibration);
        if (!err && calibration->options.restore)
                return restore_by_hand(calibration->journal, calibration->options.json,
                                       calibration->options.yes, &calibration->log);
        if (!err && calibration_changes_machine(calibration))
                err = restore_first(calibration->journal, &calibration->log);
        kept_log_begin(&calibration->kept, &calibration->log);
        if (!err)
                err = calibration_open_device(calibration);
        if (!err)
                err = calibration_make_plan(calibration);
        if (!err)
                err = calibration_refuse_limit(calibration);
        if (!err)
                err = calibration_refuse_method(calibration);
        if (!err)
                err = calibration_refuse_backlight(calibration);
        if (err)
                return err;
        if (!estimator_is_there())
                log_warning(&calibration->log,
                            "joulecast-fit was not found, so that nothing can be fitted at the end of a run; "
                            "its observations are kept in %s, and `joulecast fit` makes a profile of them "
                            "once it is installed",
                            calibration->observations);
        prospect.method = run->method;
        prospect.battery = run->description.battery;
        prospect.profile = calibration->profile;
        prospect.observations = calibration->observations;
        if (calibration->options.dry_run) {
                kept_log_release(&calibration->kept, &calibration->log);
                return dry_run_print(&prospect);
        }
        err = calibration_refuse_machine(calibration);
        if (!err)
                err = calibration_refuse_profile(calibration);
        if (!err)
                err = calibration_refuse_rivals(calibration);
        if (!err && calibration->options.schedule)
                return schedule(calibration, &prospect);
        if (!err)
                err = be_the_only_one(calibration);
        if (!err)
                err = calibration_refuse_battery(calibration);
        if (!err)
                err = ask(calibration, &prospect, "now");
        if (!err)
                err = set_watch(calibration);
        if (!err)
                err = calibration_open_run(calibration);
        return err ? err : calibration_run(calibration);
}

static void clean_up(struct calibration *calibration)
{
        struct run *run = &calibration->run;

        run_close(run);
        progress_close(run->progress);
        if (calibration->runner)
                runner_close(&run->runner);
        observations_close(run->observations);
        plan_clear(&run->plan);
        if (run->hardware)
                run->hardware->ops->close(run->hardware);
        kept_log_drop(&calibration->kept);
        free(calibration->profile);
        free(calibration->observations);
        free(calibration->usage);
        free(calibration->journal);
}

int main(int argc, char **argv)
{
        static char name[] = "joulecast-calibrate";
        struct calibration calibration = { .stop = &stop, .log = { .handler = log_to_stderr, .data = name } };
        int err;

        util_hold_standard_fds();
        util_end_on_shorter_files();
        words_start();
        err = options_parse(argc, argv, &calibration.log, &calibration.options);
        if (err >= 0)
                return err;
        calibration.arguments = argv + 1;
        if (calibration.options.schedule)
                memmove(argv + calibration.options.schedule_place.from, argv + calibration.options.schedule_place.to,
                        (size_t)(argc + 1 - calibration.options.schedule_place.to) * sizeof(*argv));
        catch_signals();
        err = calibrate(&calibration);
        if (calibration.watched) /* files that were opened before belong to the worker */
                exit(calibration.status);
        if (!err && json_lost())
                err = -ENOMEM;
        if (err == -ENOMEM) /* other errors have a sentence where they are, perhaps joulecast-fit's */
                options_finish(CODE_FAILED, &calibration.log);
        if (log_flush_stdout(&calibration.log) < 0)
                err = -EIO;
        clean_up(&calibration);
        return !err ? CODE_OK : calibration.wrong_usage ? CODE_USAGE : CODE_FAILED;
}
