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
 * A context says where files are and who hears of errors. A profile is the
 * power model that this device learnt; a usage is what the background service
 * recorded. Both together answer: what did it cost, what will it cost, how long
 * can it run.
 *
 * Errors are negative errno; a result is written only on success. The library
 * never prints and never exits: what it has to say to people goes to the log
 * handler of the context, one sentence where a file, a database, the service or an
 * app's name is at fault. What the errno alone tells has none: -ENOMEM, -ENODEV,
 * -ERANGE, -EINVAL of an argument, and -ENODATA of joulecast_usage_span(),
 * joulecast_usage_apps(), joulecast_cost_new() and joulecast_cost_find().
 *
 * Unknown is NaN in a number, NULL in a text. Every interval is low <= value <= high.
 * low and high are NaN where the profile does not know its own errors; the end that
 * is no promise is NaN alone where it has no coefficient for some of what a forecast
 * goes by: high of what will be used, low of how long it lasts.
 *
 * Threads: there are no globals. Different threads may use different contexts
 * with all that was made from them at the same time; objects of one context must
 * not be used by two threads at once without a lock of the caller's. After fork()
 * the child makes a context of its own: a usage holds a database open, which only
 * the process that opened it may use.
 *
 * Objects made from a context may be used as long as it is not freed, and a
 * question takes a profile and a usage of one context (else: -EINVAL). Strings
 * that a function returns belong to the object they were asked of, and live as
 * long as it does. Each joulecast_..._free() accepts NULL.
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
        JOULECAST_FOREGROUND = 1 /**< it has the screen */
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
 * joulecast_context_new() - where files are, and who hears of errors
 * @ret: free it last, with joulecast_context_free()
 *
 * It begins with the machine's own profile and database (the user's, where there
 * are such) and with no log handler.
 *
 * Return: 0; -ENOMEM.
 */
int joulecast_context_new(struct joulecast_context **ret);
void joulecast_context_free(struct joulecast_context *context);

/**
 * joulecast_context_set_log() - who hears of errors
 * @handler: called in the thread that uses the context; NULL: nobody. The sentence has no newline and is the
 *           library's: copy it to keep it
 * @data:    given to @handler
 */
void joulecast_context_set_log(struct joulecast_context *context, joulecast_log_handler handler, void *data);

/**
 * joulecast_context_set_device() - another device than this machine
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
 * Return: 0; -ENOENT: there is none; -EINVAL: it is not valid, and the log handler heard which line; -ENOMEM;
 * another negative errno if it cannot be read, and then too the log handler heard why.
 */
int joulecast_profile_load(struct joulecast_context *context, const char *path,
                           struct joulecast_profile **ret);
void joulecast_profile_free(struct joulecast_profile *profile);

/** Name of the device, "" if it has none. */
const char *joulecast_profile_device(const struct joulecast_profile *profile);
/** How it was made: "percent", "gauge", "ticks", "import", "virtual"; "" unknown. */
const char *joulecast_profile_method(const struct joulecast_profile *profile);
/** Energy of a full battery in mWh; always known and above 0. */
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
 * joulecast_profile_coefficient() - one number of the model
 * @index: below joulecast_profile_count()
 *
 * Return: 0; -ERANGE.
 */
int joulecast_profile_coefficient(const struct joulecast_profile *profile, size_t index,
                                  struct joulecast_coefficient *ret);

/* ---- usage ---- */

/**
 * joulecast_usage_open() - what the apps of this machine did
 * @path: a database; NULL: the one of the context's device
 * @ret:  free it with joulecast_usage_free()
 *
 * It is a view of one moment: what is recorded later is seen by opening it again. Where the machine's
 * database may not be read, the service is asked at each call, and the call waits for it: by the machine's
 * profile, apps of the caller's user as they are, and those of all others as one, "other-users".
 *
 * Return: 0; -ENOENT: nothing was recorded yet; -EACCES: it may not be read, and no service answers; -EBADMSG:
 * it is damaged, or no database of ours; -EINVAL: it is no file at all (a folder, a device), or has no name;
 * another negative errno.
 */
int joulecast_usage_open(struct joulecast_context *context, const char *path, struct joulecast_usage **ret);
void joulecast_usage_free(struct joulecast_usage *usage);

/**
 * joulecast_usage_span() - from when to when something is recorded
 * @from_ns: CLOCK_REALTIME, ns since 1970; may be NULL, @to_ns too
 *
 * Return: 0; -ENODATA: nothing is; another negative errno.
 */
int joulecast_usage_span(struct joulecast_usage *usage, int64_t *from_ns, int64_t *to_ns);

/** Called for each app and state; stops at the first return that is not 0. @name is what people call it. */
typedef int (*joulecast_app_visitor)(void *data, const char *app, const char *name,
                                     enum joulecast_state state, double active_s);

/**
 * joulecast_usage_apps() - which apps ran, in which state, for how long
 *
 * Return: 0; what @visitor returned; -ENODATA: nothing is recorded; another negative errno.
 */
int joulecast_usage_apps(struct joulecast_usage *usage, joulecast_app_visitor visitor, void *data);

/**
 * joulecast_usage_battery() - how full the battery is
 * @percent: 0..100 of charge
 * @plugged: 1 on external power, 0 not, -1 unknown; may be NULL
 *
 * Read live where @usage is this machine's own database (or a recorded machine was set), else what was stored
 * last.
 *
 * Return: 0; -ENODEV: nothing says.
 */
int joulecast_usage_battery(struct joulecast_usage *usage, double *percent, int *plugged);

/**
 * joulecast_app_of_pid() - which app a process belongs to
 * @pid: 0: the caller's own, so that an app can ask about itself
 * @buf: gets the id as it is in the database; at least JOULECAST_APP_MAX
 *
 * Return: 0; -ESRCH: no such process; -EINVAL: @size is too small, or @pid below 0.
 */
int joulecast_app_of_pid(pid_t pid, char *buf, size_t size);

/* ---- cost: what is past, 95 % intervals ---- */

/**
 * joulecast_cost_new() - what a span of time cost, and who had it
 * @from_ns: CLOCK_REALTIME, ns since 1970, or JOULECAST_BEGIN
 * @to_ns:   likewise, or JOULECAST_END
 * @ret:     free it with joulecast_cost_free()
 *
 * Energy is the profile's power model of the usage (joulecast-profile(5), "The power model"); apps + base = total, and
 * total + unexplained = measured; what is unknown is in no sum. Suspended time is priced as forecasts do it: by this device's own sleeps, where three or
 * more long ones are recorded.
 *
 * Return: 0; -ENODATA: nothing is recorded of that span; -EINVAL: it does not end after it begins, and the log
 * handler heard that; another negative errno.
 */
int joulecast_cost_new(const struct joulecast_profile *profile, struct joulecast_usage *usage,
                       int64_t from_ns, int64_t to_ns, struct joulecast_cost **ret);
void joulecast_cost_free(struct joulecast_cost *cost);

/** What the battery gave, in J; NaN: not known. */
double joulecast_cost_measured_j(const struct joulecast_cost *cost);
/** Base and all apps as the model says it, in J: those of them that are known. */
struct joulecast_value joulecast_cost_total_j(const struct joulecast_cost *cost);
/** What is nobody's: idle, WiFi association, the screen on for nobody; J. NaN: the profile knows no idle power. */
double joulecast_cost_base_j(const struct joulecast_cost *cost);
/** What the battery gave beyond the model; may be negative; NaN where the battery was not watched throughout. */
double joulecast_cost_unexplained_j(const struct joulecast_cost *cost);

struct joulecast_cost_app {
        const char *app;                      /**< id */
        const char *name;                     /**< as people know it */
        enum joulecast_state state;
        double active_s;                      /**< alive in that state */
        struct joulecast_value energy_j;      /**< of what is known; NaN: nothing of what it used is */
        struct joulecast_value percent;       /**< of a full battery: energy_j / (0.036 * energy_full_mwh) */
        struct joulecast_value percent_per_minute;
        double component_j[5];                /**< by enum joulecast_component; NaN unknown */
};

/** Apps and states, dearest first. */
size_t joulecast_cost_count(const struct joulecast_cost *cost);
/** 0; -ERANGE. */
int joulecast_cost_app(const struct joulecast_cost *cost, size_t index, struct joulecast_cost_app *ret);
/** 0; -ENODATA: the app was not there in that state. */
int joulecast_cost_find(const struct joulecast_cost *cost, const char *app, enum joulecast_state state,
                        struct joulecast_cost_app *ret);
/** The index-th thing that is in no sum because it was not measured; NULL beyond the last. */
const char *joulecast_cost_not_measured(const struct joulecast_cost *cost, size_t index);

/* ---- forecast: what is to come, 90 % intervals ---- */

/**
 * joulecast_forecast_new() - what will an app cost?
 * @app:     id or display name
 * @minutes: 0..1e6
 * @ret:     free it with joulecast_forecast_free()
 *
 * Return: 0; -ENODATA: the app was never seen, or several have that name (the log handler hears which), or nothing
 * is recorded; -EINVAL: @app is empty, or @minutes out of range; another negative errno if @usage cannot be read.
 */
int joulecast_forecast_new(const struct joulecast_profile *profile, struct joulecast_usage *usage,
                           const char *app, double minutes, struct joulecast_forecast **ret);
void joulecast_forecast_free(struct joulecast_forecast *forecast);

/** Id of the app. */
const char *joulecast_forecast_app(const struct joulecast_forecast *forecast);
/** The app's own energy, in J. */
struct joulecast_value joulecast_forecast_energy_j(const struct joulecast_forecast *forecast);
/** The app's own, in percent of a full battery, by the voltage of today's charge. */
struct joulecast_value joulecast_forecast_percent(const struct joulecast_forecast *forecast);
/** The whole device's meanwhile: with base and the usual background. */
struct joulecast_value joulecast_forecast_device_percent(const struct joulecast_forecast *forecast);
/** What the answer rests on, for people. */
const char *joulecast_forecast_basis(const struct joulecast_forecast *forecast);

/* ---- budget: how long, 90 % intervals ---- */

/**
 * joulecast_plan_new() - what shall be possible
 * @app: id or display name of the app that is to run, copied
 * @ret: free it with joulecast_plan_free()
 *
 * Return: 0; -EINVAL: @app is empty; -ENOMEM.
 */
int joulecast_plan_new(const char *app, struct joulecast_plan **ret);
void joulecast_plan_free(struct joulecast_plan *plan);

/**
 * So many minutes of another app afterwards, up to 16 times. 0; -EINVAL: 0..1e6 minutes, and @app is not empty; -E2BIG;
 * -ENOMEM.
 */
int joulecast_plan_reserve(struct joulecast_plan *plan, const char *app, double minutes);
/** So many minutes with the screen off. 0; -EINVAL: 0..1e6. */
int joulecast_plan_standby(struct joulecast_plan *plan, double minutes);
/** So many percent of charge that shall be left at the end. 0; -EINVAL: 0..100. */
int joulecast_plan_keep(struct joulecast_plan *plan, double percent);
/** Answer as if the battery had this charge. 0; -EINVAL: 0..100. */
int joulecast_plan_battery(struct joulecast_plan *plan, double percent);

/**
 * joulecast_budget_new() - how long can an app run, and leave enough?
 * @usage: what the apps of this machine did
 * @plan:  the app, what must be left for others, and the percentage to keep; not kept after the call
 * @ret:   the answer; free it with joulecast_budget_free()
 *
 * The whole device's drain counts: base, the app, and the usual background.
 *
 * Return: 0; -ENODATA: an app was never seen, or several have its name (the log handler hears which), or
 * nothing is recorded; -ENODEV: nothing says how full the battery is; another negative errno if @usage cannot
 * be read.
 */
int joulecast_budget_new(const struct joulecast_profile *profile, struct joulecast_usage *usage,
                         const struct joulecast_plan *plan, struct joulecast_budget **ret);
void joulecast_budget_free(struct joulecast_budget *budget);

/** Id of the app. */
const char *joulecast_budget_app(const struct joulecast_budget *budget);
/**
 * Minutes that it can run: low for sure (it holds in at least 95 of 100 cases), value most likely, and at most that
 * where low alone is NaN. None is above 1e6, nearly two years: it stands for that and more.
 */
struct joulecast_value joulecast_budget_minutes(const struct joulecast_budget *budget);
/** Percent of charge set aside: for standby, reserves and what is to be kept. NaN: unknown. */
double joulecast_budget_reserved_percent(const struct joulecast_budget *budget);
/** Percent of charge that was answered from. */
double joulecast_budget_battery_percent(const struct joulecast_budget *budget);
/** What the answer rests on, for people. */
const char *joulecast_budget_basis(const struct joulecast_budget *budget);

#ifdef __cplusplus
}
#endif

#endif
