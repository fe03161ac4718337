/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ask.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "answer.h"
#include "api/joulecast-private.h"
#include "moment.h"
#include "util/paths.h"
#include "util/tuning.h"
#include "util/util.h"
#include "util/words.h"

static void log_of_library(void *data, enum joulecast_level level, const char *sentence)
{
        log_write(&program_log, level == JOULECAST_ERROR ? LOG_LEVEL_ERROR : LOG_LEVEL_WARNING, "%s",
                  sentence);
}

/* Its context and its profile. An exit code; close it also on failure. */
static int open_profile_of(const struct options *options, bool profile, joulecast_log_handler handler, void *data,
                           struct ask *ask)
{
        _cleanup_free_ char *path = NULL;
        int code = CODE_OK, err;

        if (joulecast_context_new(&ask->context) < 0)
                return CODE_FAILED;
        joulecast_context_set_log(ask->context, handler, data);
        if (joulecast_context_set_device(ask->context, options->device) < 0 ||
            joulecast_context_set_machine(ask->context, options->machine) < 0)
                return CODE_FAILED;
        if (!profile)
                return CODE_OK;
        code = open_find_profile(options, &path);
        if (code != CODE_OK)
                return code;
        err = joulecast_profile_load(ask->context, path, &ask->profile); /* and logs why not */
        if (err < 0)
                return !path && err == -ENOENT ? CODE_NO_DATA : CODE_FAILED;
        return open_check_device(options, ask->profile->profile);
}

static int ask_open_all(const struct options *options, bool profile, struct ask *ret)
{
        struct ask ask = { 0 };
        int code = open_profile_of(options, profile, log_of_library, NULL, &ask), err;

        if (code == CODE_OK)
                code = open_check_usage(options);
        if (code == CODE_OK) {
                err = joulecast_usage_open(ask.context, options->database, &ask.usage); /* and logs why not */
                code = err < 0 ? err == -ENOENT ? CODE_NO_DATA : CODE_FAILED : CODE_OK;
        }
        if (code != CODE_OK) {
                ask_close(&ask);
                return code;
        }
        *ret = ask;
        return CODE_OK;
}

int ask_open(const struct options *options, struct ask *ret)
{
        return ask_open_all(options, true, ret);
}

int ask_open_usage(const struct options *options, struct ask *ret)
{
        return ask_open_all(options, false, ret);
}

int ask_try(const struct options *options, joulecast_log_handler handler, void *data, struct ask *ret)
{
        struct ask ask = { 0 };
        int code = open_profile_of(options, true, handler, data, &ask);

        if (code == CODE_OK && joulecast_usage_open(ask.context, options->database, &ask.usage) < 0)
                ask.usage = NULL;
        if (code != CODE_OK)
                ask_close(&ask);
        else
                *ret = ask;
        return code;
}

void ask_close(struct ask *ask)
{
        joulecast_usage_free(ask->usage);
        joulecast_profile_free(ask->profile);
        joulecast_context_free(ask->context);
        *ask = (struct ask){ 0 };
}

int ask_failed(int err)
{
        if (err == -ENODEV) {
                log_error(&program_log, "the charge of the battery is unknown; give one to joulecast budget or "
                                        "joulecast whatif, as --battery-percent 40");
                return CODE_NO_DATA;
        }
        if (err == -ENOMEM || err == -EINVAL || err == -EOVERFLOW) /* the library has logged all others */
                log_error(&program_log, "there is no answer: %s", strerror(-err));
        return err == -ENODATA ? CODE_NO_DATA : CODE_FAILED;
}

int ask_moment(struct joulecast_usage *usage, struct moment *moment)
{
        char sentence[128];
        int err = moment_find(usage, moment, sentence, sizeof(sentence));

        if (err < 0 && *sentence)
                log_error(&program_log, "%s; give a time, such as 24h", sentence);
        return !err ? CODE_OK : err == -ENODATA ? CODE_NO_DATA : CODE_FAILED;
}

int ask_check_span(const char *command, const struct moment *from, int64_t to_ns)
{
        if (from->word || from->ns < to_ns)
                return CODE_OK;
        log_error(&program_log, "--from is not before --to; see joulecast %s --help", command);
        return CODE_USAGE;
}

char *ask_span(double minutes, char *buf)
{
        double seconds = minutes * 60 < 1 ? minutes * 60 : round(minutes * 60);

        if (seconds < 120 && fmod(seconds, 60) != 0)
                snprintf(buf, 32, "%.3g s", seconds);
        else if (seconds < 7200 && fmod(seconds, 60) != 0)
                snprintf(buf, 32, "%.0f min %.0f s", floor(seconds / 60), fmod(seconds, 60));
        else
                ask_minutes(seconds / 60, 0, buf);
        return buf;
}

/* An upper bound of more than so many times the likely time tells nothing. */
#define TELLING_HIGH 10

bool ask_too_early(const struct joulecast_budget *budget)
{
        return budget->budget.recorded_s < TUNING_TOO_EARLY_S;
}

struct joulecast_value ask_told_minutes(const struct joulecast_budget *budget)
{
        struct joulecast_value minutes = joulecast_budget_minutes(budget);

        if (ask_too_early(budget))
                minutes.low = minutes.high = NAN;
        if (minutes.high > TELLING_HIGH * minutes.value)
                minutes.high = NAN;
        return minutes;
}

char *ask_minutes(double minutes, double beside, char *buf)
{
        double whole = floor(minutes), larger = fmax(minutes, beside);

        if (larger < 120)
                snprintf(buf, 32, words_counted("%.0f minute", "%.0f minutes", (unsigned long)whole), whole);
        else if (larger >= 48 * 60 && whole >= 24 * 60)
                snprintf(buf, 32, _("%.0f d %.0f h"), floor(whole / 1440), floor(fmod(whole, 1440) / 60));
        else if (whole < 60)
                snprintf(buf, 32, "%.0f min", whole);
        else if (fmod(whole, 60) == 0)
                snprintf(buf, 32, "%.0f h", whole / 60);
        else
                snprintf(buf, 32, "%.0f h %.0f min", floor(whole / 60), fmod(whole, 60));
        return buf;
}

char *ask_held(double percent, double limit_percent, char *buf)
{
        if (percent < limit_percent + 1)
                snprintf(buf, 96, _("held at %.0f %% by the charge limit"), percent);
        else
                snprintf(buf, 96, _("held at %.0f %% by the charge limit of %.0f %%"), percent, limit_percent);
        return buf;
}
