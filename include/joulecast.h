/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef JOULECAST_H
#define JOULECAST_H

/**
 * libjoulecast: what an app costs the battery of this device, how long it can
 * run, and what that leaves for what is needed later.
 *
 *     context -> profile, usage -> cost, forecast, budget
 *
 * A context has the paths of files and a log handler. A profile is the power model
 * of this device; a usage is what the background service recorded. Together they
 * answer: what did an app cost, what will it cost, how long can it run.
 *
 * Errors are negative errno; a result is written only on success. The library
 * never prints and never exits. The log handler of the context gets one sentence if a
 * file, a database, the service or the name of an app is the cause of an error. It gets
 * none for -ENOMEM, -ENODEV, -ERANGE, an -EINVAL because of an argument, and -ENODATA of
 * joulecast_usage_span(), joulecast_usage_apps(), joulecast_cost_new() and
 * joulecast_cost_find().
 *
 * Unknown is NaN in a number and NULL in a text. Intervals have low <= value <= high.
 * low and high are NaN if the profile has no standard errors. If it has no coefficient
 * for some of the usage, one end alone is NaN: high of an energy, low of a time.
 *
 * Threads: there are no globals. Different threads may use different contexts and
 * everything made from them at the same time. Two threads must not use objects of one
 * context at the same time without a lock. After fork() the child must make a context of
 * its own, because only the process that opened a database may use it.
 *
 * Objects made from a context may be used until the context is freed. A profile and a
 * usage of one call must be of the same context (else -EINVAL). Strings that a function
 * returns belong to the object they were asked of, and are valid as long as it is. Each
 * joulecast_..._free() accepts NULL.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct joulecast_context;
struct joulecast_profile;
struct joulecast_usage;
struct joulecast_cost;
struct joulecast_forecast;
struct joulecast_plan;
struct joulecast_budget;

/** A number with its interval. NaN: unknown. */
struct joulecast_value {
        double value;
        double low;
        double high;
};

/** Longest id of an app, with its NUL. */
#define JOULECAST_APP_MAX 128

/** Before the first and after the last moment: everything that was recorded. */
#define JOULECAST_BEGIN INT64_MIN
#define JOULECAST_END INT64_MAX

enum joulecast_state {
        JOULECAST_BACKGROUND = 0,
        JOULECAST_FOREGROUND = 1 /**< the app has the screen */
};

enum joulecast_component {
        JOULECAST_CPU = 0,
        JOULECAST_DISPLAY = 1,
        JOULECAST_DISK = 2,
        JOULECAST_WIFI = 3,
        JOULECAST_GPU = 4
};

enum joulecast_level {
        JOULECAST_ERROR = 0,   /**< what, where, what to do */
        JOULECAST_WARNING = 1,
        JOULECAST_INFO = 2
};

/* ---- context ---- */

typedef void (*joulecast_log_handler)(void *data, enum joulecast_level level, const char *sentence);

/**
 * joulecast_context_new() - paths of files, and a log handler
 * @ret: free it last, with joulecast_context_free()
 *
 * It starts with the profile and the database of this machine (or those of the user, if
 * there are any) and without a log handler.
 *
 * Return: 0; -ENOMEM.
 */
int joulecast_context_new(struct joulecast_context **ret);
void joulecast_context_free(struct joulecast_context *context);

/**
 * joulecast_context_set_log() - set the log handler
 * @handler: called in the thread that uses the context; NULL: none. The sentence has no newline, and is valid
 *           during the call only
 * @data:    passed to @handler
 */
void joulecast_context_set_log(struct joulecast_context *context, joulecast_log_handler handler, void *data);

/**
 * joulecast_context_set_device() - use another device than this machine
 * @device: "virtual:NAME" or "virtual:FILE", copied; NULL: this machine
 *
 * Return: 0; -EINVAL; -ENOMEM.
 */
int joulecast_context_set_device(struct joulecast_context *context, const char *device);

/**
 * joulecast_context_set_machine() - read the battery of a recorded machine
 * @folder: reads @folder/sys and @folder/proc instead of /, copied; NULL: this machine
 *
 * Return: 0; -ENOMEM.
 */
int joulecast_context_set_machine(struct joulecast_context *context, const char *folder);

/* ---- profile ---- */

/**
 * joulecast_profile_load() - read a power model
 * @path: NULL: the one of the context's device
 * @ret:  free it with joulecast_profile_free()
 *
 * Return: 0; -ENOENT: there is none; -EINVAL: it is not valid, and the log handler got the line; -ENOMEM;
 * another negative errno if it cannot be read, and the log handler got the reason.
 */
int joulecast_profile_load(struct joulecast_context *context, const char *path,
                           struct joulecast_profile **ret);
void joulecast_profile_free(struct joulecast_profile *profile);

/** Name of the device, "" if it has none. */
const char *joulecast_profile_device(const struct joulecast_profile *profile);
/** How it was made: "percent", "gauge", "ticks", "import", "virtual"; "" unknown. */
const char *joulecast_profile_method(const struct joulecast_profile *profile);
/** Energy of a full battery in mWh; always known, above 0. */
double joulecast_profile_energy_full_mwh(const struct joulecast_profile *profile);

struct joulecast_coefficient {
        const char *key;       /**< as in the file, e.g. "cpu.0.active_mw.384000" */
        const char *unit;      /**< "mW", "mJ/MB" or "mJ" */
        double value;          /**< 0 or more */
        double standard_error; /**< in the same unit; NaN: unknown */
        double low;            /**< 95 % interval, never below 0; NaN: unknown */
        double high;
};

size_t joulecast_profile_count(const struct joulecast_profile *profile);
/**
 * joulecast_profile_coefficient() - one coefficient of the model
 * @index: below joulecast_profile_count()
 *
 * Return: 0; -ERANGE.
 */
int joulecast_profile_coefficient(const struct joulecast_profile *profile, size_t index,
                                  struct joulecast_coefficient *ret);

/* ---- usage ---- */

/**
 * joulecast_usage_open() - open the recorded usage of apps
 * @path: a database; NULL: the one of the context's device
 * @ret:  free it with joulecast_usage_free()
 *
 * The object is a snapshot; open it again to see what was recorded later. If the caller may not read the
 * machine's database, each call asks the service and waits for its answer. The service uses the machine's
 * profile, and shows the apps of the caller's user, and all others as one app, "other-users".
 *
 * Return: 0; -ENOENT: nothing was recorded yet; -EACCES: it may not be read, and no service answers; -EBADMSG:
 * it is damaged, or not a joulecast database; -EINVAL: it is not a file (a folder, a device), or @path is empty;
 * another negative errno.
 */
int joulecast_usage_open(struct joulecast_context *context, const char *path, struct joulecast_usage **ret);
void joulecast_usage_free(struct joulecast_usage *usage);

/**
 * joulecast_usage_span() - begin and end of what is recorded
 * @from_ns: CLOCK_REALTIME, ns since 1970; may be NULL, @to_ns too
 *
 * Return: 0; -ENODATA: nothing is recorded; another negative errno.
 */
int joulecast_usage_span(struct joulecast_usage *usage, int64_t *from_ns, int64_t *to_ns);

/** Called for each app and state, until it returns another value than 0. @name is the name for people. */
typedef int (*joulecast_app_visitor)(void *data, const char *app, const char *name,
                                     enum joulecast_state state, double active_s);

/**
 * joulecast_usage_apps() - list the apps that ran, by state, with their time
 *
 * Return: 0; what @visitor returned; -ENODATA: nothing is recorded; another negative errno.
 */
int joulecast_usage_apps(struct joulecast_usage *usage, joulecast_app_visitor visitor, void *data);

/**
 * joulecast_usage_battery() - charge of the battery
 * @percent: 0..100 of charge
 * @plugged: 1 on external power, 0 not, -1 unknown; may be NULL
 *
 * Read from the battery if @usage is this machine's own database or a recorded machine was set, else the last
 * stored value.
 *
 * Return: 0; -ENODEV: unknown.
 */
int joulecast_usage_battery(struct joulecast_usage *usage, double *percent, int *plugged);

/**
 * joulecast_app_of_pid() - which app a process belongs to
 * @pid: 0: the calling process
 * @buf: gets the id as in the database; at least JOULECAST_APP_MAX bytes
 *
 * Return: 0; -ESRCH: no such process; -EINVAL: @size is too small, or @pid below 0.
 */
int joulecast_app_of_pid(pid_t pid, char *buf, size_t size);

/* ---- cost of the past, 95 % confidence intervals ---- */

/**
 * joulecast_cost_new() - energy of a time span, attributed to apps
 * @from_ns: CLOCK_REALTIME, ns since 1970, or JOULECAST_BEGIN
 * @to_ns:   likewise, or JOULECAST_END
 * @ret:     free it with joulecast_cost_free()
 *
 * The energy is that of the usage by the power model (joulecast-profile(5)). apps + base = total, and
 * total + unexplained = measured; what is unknown is in no sum. If three or more long sleeps are recorded, the
 * power while suspended is theirs, as in forecasts.
 *
 * Return: 0; -ENODATA: nothing is recorded in that time; -EINVAL: @to_ns is not after @from_ns, with a sentence to
 * the log handler; another negative errno.
 */
int joulecast_cost_new(const struct joulecast_profile *profile, struct joulecast_usage *usage,
                       int64_t from_ns, int64_t to_ns, struct joulecast_cost **ret);
void joulecast_cost_free(struct joulecast_cost *cost);

/** What the battery supplied, in J; NaN: unknown. */
double joulecast_cost_measured_j(const struct joulecast_cost *cost);
/** Base and all apps by the model, in J; what is unknown is not included. */
struct joulecast_value joulecast_cost_total_j(const struct joulecast_cost *cost);
/** Power that no app causes (idle, WiFi association, the screen without an app), in J. NaN: no idle power in the profile. */
double joulecast_cost_base_j(const struct joulecast_cost *cost);
/** Unattributed energy: measured less total; may be negative. NaN: the battery was not recorded throughout. */
double joulecast_cost_unexplained_j(const struct joulecast_cost *cost);

struct joulecast_cost_app {
        const char *app;                      /**< id */
        const char *name;                     /**< for people */
        enum joulecast_state state;
        double active_s;                      /**< alive in that state */
        struct joulecast_value energy_j;      /**< of what is known; NaN: nothing is */
        struct joulecast_value percent;       /**< of a full battery: energy_j / (0.036 * energy_full_mwh) */
        struct joulecast_value percent_per_minute;
        double component_j[5];                /**< by enum joulecast_component; NaN unknown */
};

/** Apps by state, in order of their energy, the largest first. */
size_t joulecast_cost_count(const struct joulecast_cost *cost);
/** 0; -ERANGE. */
int joulecast_cost_app(const struct joulecast_cost *cost, size_t index, struct joulecast_cost_app *ret);
/** 0; -ENODATA: the app did not run in that state. */
int joulecast_cost_find(const struct joulecast_cost *cost, const char *app, enum joulecast_state state,
                        struct joulecast_cost_app *ret);
/** The index-th component or key that is in no sum because it was not measured; NULL beyond the last. */
const char *joulecast_cost_not_measured(const struct joulecast_cost *cost, size_t index);

/* ---- forecast, 90 % prediction intervals ---- */

/**
 * joulecast_forecast_new() - what an app will cost
 * @app:     id or display name
 * @minutes: 0..1e6
 * @ret:     free it with joulecast_forecast_free()
 *
 * Return: 0; -ENODATA: the app is not recorded, or several have that name (the log handler gets their ids), or
 * nothing is recorded; -EINVAL: @app is empty, or @minutes out of range; another negative errno if @usage cannot be read.
 */
int joulecast_forecast_new(const struct joulecast_profile *profile, struct joulecast_usage *usage,
                           const char *app, double minutes, struct joulecast_forecast **ret);
void joulecast_forecast_free(struct joulecast_forecast *forecast);

/** Id of the app. */
const char *joulecast_forecast_app(const struct joulecast_forecast *forecast);
/** The app's own energy, in J. */
struct joulecast_value joulecast_forecast_energy_j(const struct joulecast_forecast *forecast);
/** The app's own, in percent of a full battery, at the voltage of today's charge. */
struct joulecast_value joulecast_forecast_percent(const struct joulecast_forecast *forecast);
/** Of the whole device in the same time: with base and the usual background. */
struct joulecast_value joulecast_forecast_device_percent(const struct joulecast_forecast *forecast);
/** What the answer is computed from, a sentence for people. */
const char *joulecast_forecast_basis(const struct joulecast_forecast *forecast);

/* ---- budget, 90 % prediction intervals ---- */

/**
 * joulecast_plan_new() - what the battery has to suffice for
 * @app: id or name of the app that runs first, copied
 * @ret: free it with joulecast_plan_free()
 *
 * Return: 0; -EINVAL: @app is empty; -ENOMEM.
 */
int joulecast_plan_new(const char *app, struct joulecast_plan **ret);
void joulecast_plan_free(struct joulecast_plan *plan);

/**
 * Reserves @minutes of another app afterwards; up to 16 times. 0; -EINVAL: @minutes is not in 0..1e6, or @app is
 * empty; -E2BIG; -ENOMEM.
 */
int joulecast_plan_reserve(struct joulecast_plan *plan, const char *app, double minutes);
/** Reserves @minutes with the screen off. 0; -EINVAL: not in 0..1e6. */
int joulecast_plan_standby(struct joulecast_plan *plan, double minutes);
/** Percent of charge that must be left at the end. 0; -EINVAL: not in 0..100. */
int joulecast_plan_keep(struct joulecast_plan *plan, double percent);
/** Answer as if the battery had this charge. 0; -EINVAL: not in 0..100. */
int joulecast_plan_battery(struct joulecast_plan *plan, double percent);

/**
 * joulecast_budget_new() - how long an app can run and leave enough
 * @usage: recorded usage
 * @plan:  the app, the reserves, and the percentage to keep; not kept after the call
 * @ret:   the answer; free it with joulecast_budget_free()
 *
 * The drain of the whole device counts: base, the app, and the usual background.
 *
 * Return: 0; -ENODATA: an app is not recorded, or several have its name (the log handler gets their ids), or
 * nothing is recorded; -ENODEV: the charge of the battery is unknown; another negative errno if @usage cannot
 * be read.
 */
int joulecast_budget_new(const struct joulecast_profile *profile, struct joulecast_usage *usage,
                         const struct joulecast_plan *plan, struct joulecast_budget **ret);
void joulecast_budget_free(struct joulecast_budget *budget);

/** Id of the app. */
const char *joulecast_budget_app(const struct joulecast_budget *budget);
/**
 * Minutes that it can run: low holds in at least 95 of 100 cases; value is expected, or an upper limit if low alone
 * is NaN. At most 1e6 (nearly two years), which means that and more.
 */
struct joulecast_value joulecast_budget_minutes(const struct joulecast_budget *budget);
/** Percent of charge set aside for standby, reserves and what must be left. NaN: unknown. */
double joulecast_budget_reserved_percent(const struct joulecast_budget *budget);
/** Percent of charge at the start. */
double joulecast_budget_battery_percent(const struct joulecast_budget *budget);
/** What the answer is computed from, a sentence for people. */
const char *joulecast_budget_basis(const struct joulecast_budget *budget);

#ifdef __cplusplus
}
#endif

#endif
