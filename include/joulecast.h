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
 * A context holds the locations of files and the log handler. A profile is the
 * power model of this device, made by its calibration; a usage is what the
 * background service recorded. Costs, forecasts and budgets are computed from both.
 *
 * Errors are negative errno; a result is written only on success. The library
 * never prints and never exits. The log handler of the context gets one sentence
 * for people where a file, a database, the service or the name of an app is the
 * cause. It gets none for -ENOMEM, -ENODEV, -ERANGE, -EINVAL of an argument, and
 * -ENODATA of joulecast_usage_span(), joulecast_usage_apps(), joulecast_cost_new()
 * and joulecast_cost_find().
 *
 * Unknown is NaN in a number and NULL in a text. In every interval low <= value <=
 * high. low and high are NaN where the profile has no error estimates. Where the
 * profile has no coefficient for a part of a forecast, only one end is NaN: high of
 * an energy, low of a duration.
 *
 * Threads: there are no globals. Different threads may use different contexts,
 * with all objects made from them, at the same time. Objects of one context must
 * not be used by two threads at once without a lock. After fork() the child must
 * make a context of its own: a usage holds a database open, and only the process
 * that opened it may use it.
 *
 * A context must outlive the objects made from it. A profile and a usage that are
 * used together must be of one context (else -EINVAL). Strings that a function
 * returns belong to the object they come from, and live as long as it does. Each
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
struct joulecast_change;
struct joulecast_gain;
struct joulecast_goal;
struct joulecast_endurance;

/** A number with its interval. NaN: unknown. */
struct joulecast_value {
        double value;
        double low;
        double high;
};

/** Longest id of an app, with its NUL. */
#define JOULECAST_APP_MAX 128

/** From the first to the last: everything that was recorded. */
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
        JOULECAST_GPU = 4,
        JOULECAST_CELLULAR = 5, /**< this and those below: joulecast_cost_component_j() only */
        JOULECAST_GPS = 6,
        JOULECAST_AUDIO = 7,
        JOULECAST_CAMERA = 8
};

enum joulecast_level {
        JOULECAST_ERROR = 0,   /**< what, where, what to do */
        JOULECAST_WARNING = 1,
        JOULECAST_INFO = 2
};

/* ---- context ---- */

typedef void (*joulecast_log_handler)(void *data, enum joulecast_level level, const char *sentence);

/**
 * joulecast_context_new() - locations of files, and the log handler
 * @ret: free it last, with joulecast_context_free()
 *
 * A new context has the machine's own profile and database (the user's, where they
 * exist) and no log handler.
 *
 * Return: 0; -ENOMEM.
 */
int joulecast_context_new(struct joulecast_context **ret);
void joulecast_context_free(struct joulecast_context *context);

/**
 * joulecast_context_set_log() - set the log handler
 * @handler: called in the thread that uses the context; NULL: none. The sentence has no newline and is valid during
 *           the call only
 * @data:    given to @handler
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
 * @path: NULL: the one of the context's device; where it has none, the one that ships for it, else one of a usual
 *        device of its class, with wide intervals: joulecast_profile_basis() tells
 * @ret:  free it with joulecast_profile_free()
 *
 * Return: 0; -ENOENT: there is none (@path is NULL: and the device shows no battery); -EINVAL: it is not valid, and
 * the log handler got the line; -ENODEV: @path is NULL, and the profile there was made for another device than this
 * machine; -ENOMEM; another negative errno if it cannot be read, and the log handler got the reason.
 */
int joulecast_profile_load(struct joulecast_context *context, const char *path,
                           struct joulecast_profile **ret);
void joulecast_profile_free(struct joulecast_profile *profile);

/** Name of the device, "" if it has none. */
const char *joulecast_profile_device(const struct joulecast_profile *profile);
/** How it was made: "percent", "gauge", "ticks", "import", "virtual", "class"; "" unknown. */
const char *joulecast_profile_method(const struct joulecast_profile *profile);
/** Whether states that were not fitted took the power that it predicts: 1 yes, 0 no, -1 that was not tried. */
int joulecast_profile_validated(const struct joulecast_profile *profile);
/** Where its numbers are from: "calibrated" on the device; "shipped" for such devices; "class": of a usual phone,
 *  laptop ... */
const char *joulecast_profile_basis(const struct joulecast_profile *profile);
/** Energy of a full battery in mWh; always known, above 0. */
double joulecast_profile_energy_full_mwh(const struct joulecast_profile *profile);

struct joulecast_coefficient {
        const char *key;       /**< as in the file, e.g. "cpu.0.active_mw.384000" */
        const char *unit;      /**< "mW", "mJ/MB", "mJ"; "": it is a factor */
        double value;          /**< 0 or more; negative only where its key begins with "app." or "battery.curve." */
        double standard_error; /**< in the same unit; NaN: unknown */
        double low;            /**< 95 % confidence interval, of values that are possible; NaN: unknown */
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
 * joulecast_usage_open() - open the recorded usage of this machine's apps
 * @path: a database; NULL: the one of the context's device
 * @ret:  free it with joulecast_usage_free()
 *
 * It is a snapshot: open it again to see what was recorded later. Where the caller may not read the machine's
 * database, each call asks the service and waits for its answer. The service uses the machine's profile; it
 * returns the apps of the caller's user, and one app "other-users" for all other users.
 *
 * Return: 0; -ENOENT: nothing was recorded yet; -EACCES: no permission to read it, and no service answers;
 * -EBADMSG: it is damaged, or not a joulecast database; -EINVAL: it is not a file (a folder, a device), or @path is
 * empty; another negative errno.
 */
int joulecast_usage_open(struct joulecast_context *context, const char *path, struct joulecast_usage **ret);
void joulecast_usage_free(struct joulecast_usage *usage);

/**
 * joulecast_usage_span() - begin and end of what is recorded
 * @from_ns: CLOCK_REALTIME, ns since 1970; may be NULL
 * @to_ns:   likewise
 *
 * Return: 0; -ENODATA: nothing is recorded; another negative errno.
 */
int joulecast_usage_span(struct joulecast_usage *usage, int64_t *from_ns, int64_t *to_ns);

/** Events from which people count time. */
enum joulecast_event {
        /**
         * The battery was last full: the end of the last poll in which it was. A battery that is plugged in and no
         * longer charges, as with a limit of 80 %, also counts as full.
         */
        JOULECAST_SINCE_FULL = 0,
        JOULECAST_SINCE_UNPLUG = 1, /**< external power was last removed */
        JOULECAST_SINCE_BOOT = 2,   /**< this machine was started */
        JOULECAST_SINCE_RESUME = 3  /**< the last suspend ended */
};

/**
 * joulecast_usage_since() - when something happened last, for a span from then on
 * @time_ns: CLOCK_REALTIME, ns since 1970
 *
 * Return: 0; -ENODATA: never, in what is recorded; for JOULECAST_SINCE_BOOT: @usage is not of this machine; another
 * negative errno.
 */
int joulecast_usage_since(struct joulecast_usage *usage, enum joulecast_event event, int64_t *time_ns);

/** Called for each app and state, until it returns other than 0. @name is the display name. */
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
 * The present charge where @usage is this machine's own database (or a recorded machine was set), else the last
 * that was stored.
 *
 * Return: 0; -ENODEV: unknown.
 */
int joulecast_usage_battery(struct joulecast_usage *usage, double *percent, int *plugged);

/**
 * joulecast_app_of_pid() - which app a process belongs to
 * @pid: 0: the calling process
 * @buf: gets the id as it is in the database; at least JOULECAST_APP_MAX
 *
 * Return: 0; -ESRCH: no such process; -EINVAL: @size is too small, or @pid below 0.
 */
int joulecast_app_of_pid(pid_t pid, char *buf, size_t size);

/* ---- cost: 95 % confidence intervals ---- */

/**
 * joulecast_cost_new() - energy of a span of time, by app
 * @from_ns: CLOCK_REALTIME, ns since 1970, or JOULECAST_BEGIN
 * @to_ns:   likewise, or JOULECAST_END
 * @ret:     free it with joulecast_cost_free()
 *
 * The energy is that of the power model (joulecast-profile(5), "The power model") for the recorded usage. apps + base =
 * total, and total + unattributed = measured; unknown parts are in no sum. Suspended time is priced by the power
 * measured in this device's own sleeps, where three or more long ones are recorded, else by the profile.
 *
 * Return: 0; -ENODATA: nothing is recorded in that span; -EINVAL: @to_ns is not after @from_ns, and the log handler
 * got a sentence; another negative errno.
 */
int joulecast_cost_new(const struct joulecast_profile *profile, struct joulecast_usage *usage,
                       int64_t from_ns, int64_t to_ns, struct joulecast_cost **ret);
void joulecast_cost_free(struct joulecast_cost *cost);

/** Energy that the battery gave, in J; NaN: unknown. */
double joulecast_cost_measured_j(const struct joulecast_cost *cost);
/**
 * Model total, in J: base and all apps, as far as they are known. Intervals of joules have an error that percents of
 * the battery do not have: that of its gauge.
 */
struct joulecast_value joulecast_cost_total_j(const struct joulecast_cost *cost);
/** Base, in J: energy that no app causes (idle, WiFi association, screen on without an app). NaN: the profile has no
 *  idle power. */
double joulecast_cost_base_j(const struct joulecast_cost *cost);
/** Unattributed energy, in J: measured less total; may be negative. NaN: not on battery power all the time. */
double joulecast_cost_unexplained_j(const struct joulecast_cost *cost);

struct joulecast_cost_app {
        const char *app;                      /**< id */
        const char *name;                     /**< display name */
        enum joulecast_state state;
        double active_s;                      /**< seconds alive in that state */
        struct joulecast_value energy_j;      /**< of the known parts; NaN: all parts are unknown */
        struct joulecast_value percent;       /**< of a full battery: energy_j / (0.036 * energy_full_mwh) */
        struct joulecast_value percent_per_minute;
        double component_j[5];                /**< of the first five of enum joulecast_component; NaN unknown. All:
                                                   joulecast_cost_component_j(). energy_j also has what was learnt */
};

/** Number of apps by state; sorted by energy, highest first. */
size_t joulecast_cost_count(const struct joulecast_cost *cost);
/** 0; -ERANGE. */
int joulecast_cost_app(const struct joulecast_cost *cost, size_t index, struct joulecast_cost_app *ret);
/**
 * Energy of one component of an app, in J. NaN: unknown, or @index is beyond the last, or there is no such
 * component.
 */
double joulecast_cost_component_j(const struct joulecast_cost *cost, size_t index, enum joulecast_component component);
/** 0; -ENODATA: the app did not run in that state. */
int joulecast_cost_find(const struct joulecast_cost *cost, const char *app, enum joulecast_state state,
                        struct joulecast_cost_app *ret);
/** Key of something that is in no sum because it was not measured; NULL: @index is beyond the last. */
const char *joulecast_cost_not_measured(const struct joulecast_cost *cost, size_t index);

/* ---- forecast: 90 % prediction intervals ---- */

/**
 * joulecast_forecast_new() - energy that an app will use
 * @app:     id or display name, or a part of either that no other app has
 * @minutes: 0..1e6
 * @ret:     free it with joulecast_forecast_free()
 *
 * Return: 0; -ENODATA: the app was never seen, or several have that name (the log handler gets a sentence), or
 * nothing is recorded; -EINVAL: @app is empty, or @minutes is out of range; another negative errno if @usage cannot be
 * read.
 */
int joulecast_forecast_new(const struct joulecast_profile *profile, struct joulecast_usage *usage,
                           const char *app, double minutes, struct joulecast_forecast **ret);
void joulecast_forecast_free(struct joulecast_forecast *forecast);

/** Id of the app. */
const char *joulecast_forecast_app(const struct joulecast_forecast *forecast);
/** The app's own energy, in J. */
struct joulecast_value joulecast_forecast_energy_j(const struct joulecast_forecast *forecast);
/** The same in percent of a full battery, at the voltage of the present charge. */
struct joulecast_value joulecast_forecast_percent(const struct joulecast_forecast *forecast);
/** Energy of the whole device in that time, in percent of a full battery: the app, base and the usual background. */
struct joulecast_value joulecast_forecast_device_percent(const struct joulecast_forecast *forecast);
/** The data behind the answer, a sentence for people. */
const char *joulecast_forecast_basis(const struct joulecast_forecast *forecast);

/* ---- budget: 90 % prediction intervals ---- */

/**
 * joulecast_plan_new() - what a budget is for
 * @app: id or display name of the app that is to run, or a part of it, copied; NULL: none, use goes on as
 *       it is now (the last minutes, and then what is usual, by hour of the day where the history shows it)
 * @ret: free it with joulecast_plan_free()
 *
 * Return: 0; -EINVAL: @app is empty; -ENOMEM.
 */
int joulecast_plan_new(const char *app, struct joulecast_plan **ret);
void joulecast_plan_free(struct joulecast_plan *plan);

/**
 * Reserve @minutes (0..1e6) of another app afterwards; up to 16 times. 0; -EINVAL: @minutes is out of range, or @app is
 * empty; -E2BIG; -ENOMEM.
 */
int joulecast_plan_reserve(struct joulecast_plan *plan, const char *app, double minutes);
/**
 * Reserve @minutes (0..1e6) with the screen off: suspended for the share of such time for which the device
 * was suspended until now, awake without any such record; joulecast_budget_basis() says which. 0; -EINVAL.
 */
int joulecast_plan_standby(struct joulecast_plan *plan, double minutes);
/** Keep @percent (0..100) of charge at the end. 0; -EINVAL. */
int joulecast_plan_keep(struct joulecast_plan *plan, double percent);
/** Compute as if the battery had @percent (0..100) of charge. 0; -EINVAL. */
int joulecast_plan_battery(struct joulecast_plan *plan, double percent);

/**
 * joulecast_budget_new() - how long an app can run and leave enough
 * @usage: recorded usage of this machine's apps
 * @plan:  the app, the reserves for others, and the charge to keep; may be freed after the call
 * @ret:   free it with joulecast_budget_free()
 *
 * The energy of the whole device counts: base, the app, and the usual background.
 *
 * Return: 0; -ENODATA: an app was never seen, or several have its name (the log handler gets a sentence), or
 * nothing is recorded; -ENODEV: the charge of the battery is unknown; another negative errno if @usage cannot be
 * read.
 */
int joulecast_budget_new(const struct joulecast_profile *profile, struct joulecast_usage *usage,
                         const struct joulecast_plan *plan, struct joulecast_budget **ret);
void joulecast_budget_free(struct joulecast_budget *budget);

/** Id of the app; "": none, of mixed use. */
const char *joulecast_budget_app(const struct joulecast_budget *budget);
/**
 * Minutes that it can run: low: at least (it holds 19 times in 20), value: likely. Where only low is NaN,
 * value is an upper limit. 1e6 stands for 1e6 minutes and more.
 */
struct joulecast_value joulecast_budget_minutes(const struct joulecast_budget *budget);
/** Percent of charge set aside for standby, reserves and the charge to keep. NaN: unknown. */
double joulecast_budget_reserved_percent(const struct joulecast_budget *budget);
/** Percent of charge that the answer starts from. */
double joulecast_budget_battery_percent(const struct joulecast_budget *budget);
/** Whether the battery charges: 1 yes, 0 no, -1 unknown. The minutes are as if it were unplugged now. */
int joulecast_budget_charging(const struct joulecast_budget *budget);
/** Minutes until it is full, or at its charge limit, by how the level rose on this charger, else by the current sensor.
 *  NaN: it does not charge, or how fast is unknown. */
struct joulecast_value joulecast_budget_minutes_to_full(const struct joulecast_budget *budget);
/** Percent at which charging ends, a setting of the firmware. NaN: none is set, it is unknown, or it is not kept. */
double joulecast_budget_charge_limit_percent(const struct joulecast_budget *budget);
/** Whether that limit holds the level while the charger powers the device: 1 yes, 0 no, -1 unknown. */
int joulecast_budget_held_at_limit(const struct joulecast_budget *budget);
/** Whether the level falls on the charger, because what runs needs more than it gives: 1 yes, 0 no, -1 unknown. */
int joulecast_budget_charger_too_weak(const struct joulecast_budget *budget);
/** The data behind the answer, a sentence for people. */
const char *joulecast_budget_basis(const struct joulecast_budget *budget);

/* ---- what-if: 90 % prediction intervals ---- */

/** Parts of the device that can be switched off. */
enum joulecast_part {
        JOULECAST_PART_SCREEN = 0,
        JOULECAST_PART_WIFI = 1,
        JOULECAST_PART_CELLULAR = 2,
        JOULECAST_PART_GPS = 3,
        JOULECAST_PART_AUDIO = 4
};

/**
 * joulecast_change_new() - what is to change
 * @ret: no change; free it with joulecast_change_free()
 *
 * Return: 0; -ENOMEM.
 */
int joulecast_change_new(struct joulecast_change **ret);
void joulecast_change_free(struct joulecast_change *change);

/**
 * The app (id, display name or a part of it, copied) uses nothing more; up to 16 times. The screen stays on
 * without it. 0; -EINVAL: @app is empty; -E2BIG; -ENOMEM.
 */
int joulecast_change_close(struct joulecast_change *change, const char *app);
/** The screen has @percent (0..100) of its greatest brightness while it is on. 0; -EINVAL. */
int joulecast_change_brightness(struct joulecast_change *change, double percent);
/**
 * The part uses no more energy. With a radio off, its traffic does not take place at all. 0; -EINVAL: there is no
 * such part.
 */
int joulecast_change_off(struct joulecast_change *change, enum joulecast_part part);
/** The changes last for @minutes (0..1e6) only; after that all is as before. 0; -EINVAL. */
int joulecast_change_keep(struct joulecast_change *change, double minutes);
/** Compute as if the battery had @percent (0..100) of charge. 0; -EINVAL. */
int joulecast_change_battery(struct joulecast_change *change, double percent);

/**
 * joulecast_gain_new() - how much longer the battery lasts with a change
 * @usage:  recorded usage of this machine's apps
 * @change: may be freed after the call
 * @ret:    free it with joulecast_gain_free()
 *
 * Use goes on as it is otherwise, as in a budget without an app.
 *
 * Return: as joulecast_budget_new().
 */
int joulecast_gain_new(const struct joulecast_profile *profile, struct joulecast_usage *usage,
                       const struct joulecast_change *change, struct joulecast_gain **ret);
void joulecast_gain_free(struct joulecast_gain *gain);

/**
 * Minutes gained; below 0: lost. The interval is that of the difference, whose two futures share most of their errors.
 * NaN: unknown, as something that is changed has no coefficient. Where only low is NaN, value is an upper limit;
 * where only high is NaN (value is below 0), it is a lower limit; where both are, some of what is changed has no
 * coefficient.
 */
struct joulecast_value joulecast_gain_minutes(const struct joulecast_gain *gain);
/** Minutes that the battery lasts without the change: those of a budget without an app. */
struct joulecast_value joulecast_gain_before(const struct joulecast_gain *gain);
/** Minutes that it lasts with it. */
struct joulecast_value joulecast_gain_after(const struct joulecast_gain *gain);
/** Percent of charge that the answer starts from. */
double joulecast_gain_battery_percent(const struct joulecast_gain *gain);
/** Id of an app that is closed; NULL: @index is beyond the last. */
const char *joulecast_gain_app(const struct joulecast_gain *gain, size_t index);
/**
 * 1: the change saves nothing, neither now nor usually: the apps that it closes and the parts that it switches off use
 * nothing, and the brightness is the same already; else 0.
 */
int joulecast_gain_is_nothing(const struct joulecast_gain *gain);
/** The data behind the answer, a sentence for people. */
const char *joulecast_gain_basis(const struct joulecast_gain *gain);

/**
 * joulecast_goal_new() - how long the charge is to last
 * @minutes: more than 0, at most 1e6
 * @ret:     free it with joulecast_goal_free()
 *
 * Return: 0; -EINVAL; -ENOMEM.
 */
int joulecast_goal_new(double minutes, struct joulecast_goal **ret);
void joulecast_goal_free(struct joulecast_goal *goal);
/**
 * The app (id, display name or a part of it, copied) is in the foreground until then; without it use goes on as it
 * is. 0; -EINVAL: it is empty; -ENOMEM.
 */
int joulecast_goal_app(struct joulecast_goal *goal, const char *app);
/**
 * Exclude one kind of change from the plan; up to 32 times. @what is copied: "brightness", "limit", "cellular_off",
 * "wifi_off", "close", an app, or "limit:APP" or "close:APP". 0; -EINVAL: it is empty; -E2BIG; -ENOMEM.
 */
int joulecast_goal_without(struct joulecast_goal *goal, const char *what);
/** Compute as if the battery had @percent (0..100) of charge. 0; -EINVAL. */
int joulecast_goal_battery(struct joulecast_goal *goal, double percent);

/** A change of a plan. Texts are valid as long as the plan. */
struct joulecast_endurance_change {
        /** "brightness", "limit" (frozen in the background), "cellular_off", "wifi_off", "close" */
        const char *action;
        const char *app;                /**< id of the app that is limited or closed; NULL: another change */
        const char *name;               /**< its display name; NULL likewise */
        double brightness_percent;      /**< of the brightest; NaN: another change */
        struct joulecast_value gained;  /**< minutes that it gains by itself */
};

/**
 * joulecast_endurance_new() - the fewest changes with which the charge lasts that long, 19 times in 20
 * @goal: may be freed after the call
 * @ret:  free it with joulecast_endurance_free()
 *
 * A plan has at most 4 of 12 changes that have a price. Of plans with equally many changes the first one is taken, in
 * the order of the actions above; among apps, the one that uses most comes first. This call changes nothing on the
 * device.
 *
 * Return: as joulecast_budget_new().
 */
int joulecast_endurance_new(const struct joulecast_profile *profile, struct joulecast_usage *usage,
                            const struct joulecast_goal *goal,
                            struct joulecast_endurance **ret);
void joulecast_endurance_free(struct joulecast_endurance *endurance);
/** Minutes that the charge lasts without the changes, and with them; low holds 19 times in 20. */
struct joulecast_value joulecast_endurance_before(const struct joulecast_endurance *endurance);
struct joulecast_value joulecast_endurance_after(const struct joulecast_endurance *endurance);
/** Minutes that the low end with the changes is below the goal; 0: they suffice; NaN: the low end is unknown. */
double joulecast_endurance_short_minutes(const struct joulecast_endurance *endurance);
/** 0; -ENOENT: @index is beyond the last. None are needed, or nothing helps, where there is none. */
int joulecast_endurance_change(const struct joulecast_endurance *endurance, size_t index,
                               struct joulecast_endurance_change *ret);
/** Id of the app; "": use goes on as it is. */
const char *joulecast_endurance_app(const struct joulecast_endurance *endurance);
/** Percent of charge that the answer starts from. */
double joulecast_endurance_battery_percent(const struct joulecast_endurance *endurance);
/** The data behind the answer, a sentence for people. */
const char *joulecast_endurance_basis(const struct joulecast_endurance *endurance);

#ifdef __cplusplus
}
#endif

#endif
