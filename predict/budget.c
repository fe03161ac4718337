/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `joulecast budget`: how long an app can run and leave enough for what is needed later. */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "api/answer-fields.h"
#include "ask.h"
#include "commands.h"
#include "names.h"
#include "util/table.h"
#include "util/text.h"
#include "util/util.h"
#include "util/words.h"

#define RESERVES_MAX 16

/* The question on the command line; a reserve is "APP=TIME". */
struct question {
        const char *app;
        char *reserve_app[RESERVES_MAX];
        double reserve_minutes[RESERVES_MAX];
        size_t n_reserves;
        double standby_minutes;
        double keep_percent;
        double battery_percent;
};

static void question_clear(struct question *question)
{
        for (size_t i = 0; i < question->n_reserves; i++)
                free(question->reserve_app[i]);
}

static int take_reserve(const char *value, void *data)
{
        struct question *question = data;
        const char *equals = strrchr(value, '=');
        size_t n = question->n_reserves;
        double minutes;
        int err = equals && equals != value ? values_parse_minutes(equals + 1, &minutes) : -EINVAL;

        if (err < 0)
                return err;
        if (n == RESERVES_MAX)
                return -E2BIG;
        question->reserve_minutes[n] = minutes;
        question->reserve_app[n] = strndup(value, (size_t)(equals - value));
        if (!question->reserve_app[n])
                return -ENOMEM;
        question->n_reserves++;
        return 0;
}

/* Budgets are limited to 1e6 minutes, which stand for that and more. */
static const char *format_minutes(double minutes, double beside, char *buf)
{
        return minutes >= 1e6 ? _("years") : ask_minutes(minutes, beside, buf);
}

static bool is_mixed(const struct joulecast_budget *budget)
{
        return !*joulecast_budget_app(budget);
}

/* Length of the number alone, as in "73 minutes ..., probably 79". */
static int without_unit(const char *minutes)
{
        return (int)strcspn(minutes, " ");
}

/* Prints how long an app can run. */
static void print_app(const struct joulecast_budget *budget, const char *app)
{
        struct joulecast_value minutes = joulecast_budget_minutes(budget);
        char low[32], value[32];
        const char *sure = format_minutes(minutes.low, minutes.value, low);
        const char *likely = format_minutes(minutes.value, 0, value);

        if (isnan(minutes.value))
                table_text(TABLE_HEAD, "How long %s can run is unknown: the profile has no coefficient for "
                                       "what it uses.", app);
        else if (minutes.value < 1 && joulecast_budget_reserved_percent(budget) > 0)
                table_text(TABLE_HEAD, "Nothing is left for %s: the reserves need all of the charge.", app);
        else if (minutes.value < 1)
                table_text(TABLE_HEAD, "Nothing is left for %s.", app);
        else if (ask_too_early(budget) && !isnan(minutes.low))
                table_text(TABLE_HEAD, "%s can run for about %s; too little was recorded yet to say more.",
                           app, likely);
        else if (isnan(minutes.low) && isnan(minutes.high))
                table_text(TABLE_HEAD, "%s can run for about %s; this profile has no error estimates.", app, likely);
        else if (isnan(minutes.low)) /* the time is shorter by usage without a coefficient */
                table_text(TABLE_HEAD, "%s can run for at most about %s; this profile has no coefficient for some of "
                           "what it uses.", app, likely);
        else if (minutes.low < 1)
                table_text(TABLE_HEAD, "%s can probably run for %s, but perhaps for less than a minute.", app, likely);
        else
                table_text(TABLE_HEAD, "%s can run for at least %s (19 times in 20), probably %.*s.", app, sure,
                           minutes.value < 120 ? without_unit(likely) : (int)strlen(likely), likely);
}

/* Prints how long the battery lasts if use goes on as it is now. */
static void print_mixed(const struct joulecast_budget *budget)
{
        struct joulecast_value minutes = joulecast_budget_minutes(budget);
        char low[32], value[32];
        const char *sure = format_minutes(minutes.low, minutes.value, low);
        const char *likely = format_minutes(minutes.value, 0, value);

        if (isnan(minutes.value))
                table_text(TABLE_HEAD, "How long the battery lasts is unknown: the profile has no "
                                       "coefficient for what is used.");
        else if (minutes.value < 1 && joulecast_budget_reserved_percent(budget) > 0)
                table_text(TABLE_HEAD, "Nothing is left in the battery: the reserves need all of the charge.");
        else if (minutes.value < 1)
                table_text(TABLE_HEAD, "Nothing is left in the battery.");
        else if (ask_too_early(budget) && !isnan(minutes.low))
                table_text(TABLE_HEAD, "The battery lasts for about %s; too little was recorded yet to say "
                                       "more.", likely);
        else if (isnan(minutes.low) && isnan(minutes.high))
                table_text(TABLE_HEAD, "The battery lasts for about %s; this profile has no error estimates.", likely);
        else if (isnan(minutes.low))
                table_text(TABLE_HEAD, "The battery lasts for at most about %s; this profile has no "
                           "coefficient for some of what is used.", likely);
        else if (minutes.low < 1)
                table_text(TABLE_HEAD, "The battery probably lasts for %s, but perhaps for less than a "
                                       "minute.", likely);
        else
                table_text(TABLE_HEAD, "The battery lasts for at least %s (19 times in 20), probably %.*s.", sure,
                           minutes.value < 120 ? without_unit(likely) : (int)strlen(likely), likely);
}

/* Prints how much charge is set aside, and for what. */
static int print_aside(const struct joulecast_budget *budget, const struct question *question)
{
        double battery = joulecast_budget_battery_percent(budget);
        char span[32], name[JOULECAST_APP_MAX], reserved[32];
        _cleanup_free_ char *text = NULL;
        const char *between = "";
        struct text_kept kept;
        FILE *stream = text_open(&kept);

        if (!stream)
                return CODE_FAILED;
        for (size_t i = 0; i < question->n_reserves; i++, between = ", ") {
                fputs(between, stream);
                fprintf(stream, _("%s of %s"), ask_span(question->reserve_minutes[i], span),
                        util_printable(question->reserve_app[i], name, sizeof(name)));
        }
        if (question->standby_minutes > 0) {
                fputs(between, stream);
                fprintf(stream, _("%s of standby (screen off)"), ask_span(question->standby_minutes, span));
                between = ", ";
        }
        if (question->keep_percent > 0) {
                fputs(between, stream);
                fprintf(stream, _("%.3g %% to keep"), question->keep_percent);
        }
        text = text_close(stream, &kept);
        if (!text)
                return CODE_FAILED;
        table_text(TABLE_PLAIN, "Of %.3g %% in the battery, %s %% are set aside: %s.", battery,
                   answer_print_number(joulecast_budget_reserved_percent(budget), 1, reserved), text);
        return CODE_OK;
}

/* Prints the state on the charger. */
static void print_charging(const struct joulecast_budget *budget)
{
        struct joulecast_value full = joulecast_budget_minutes_to_full(budget);
        double limit = joulecast_budget_charge_limit_percent(budget);
        char high[32], value[32], held[96];

        if (joulecast_budget_charger_too_weak(budget) > 0)
                table_text(TABLE_PLAIN, "The charger is too weak for what runs: the level falls although it is plugged "
                           "in.");
        else if (joulecast_budget_held_at_limit(budget) > 0)
                table_text(TABLE_PLAIN, "It is %s.", ask_held(joulecast_budget_battery_percent(budget), limit, held));
        else if (!isnan(limit) && full.value > 0)
                table_text(TABLE_PLAIN, "It charges: probably %s until the limit of %.3g %%, at most %s (19 "
                                        "times in 20).",
                           ask_minutes(full.value, full.high, value), limit, ask_minutes(full.high, full.value, high));
        else if (!isnan(limit) && full.value == 0)
                table_text(TABLE_PLAIN, "It charges, and is at the limit of %.3g %%.", limit);
        else if (full.value > 0)
                table_text(TABLE_PLAIN, "It charges, and is full in probably %s, at most %s (19 times in 20).",
                           ask_minutes(full.value, full.high, value), ask_minutes(full.high, full.value, high));
        else if (joulecast_budget_charging(budget) > 0)
                table_text(TABLE_PLAIN, "It charges; when it is full is not known yet.");
}

static int print_answer(const struct joulecast_budget *budget, const struct options *options,
                        const struct question *question)
{
        char name[256];
        int code = CODE_OK;

        if (is_mixed(budget))
                print_mixed(budget);
        else
                print_app(budget, names_of(options, joulecast_budget_app(budget), name, sizeof(name)));
        print_charging(budget);
        putchar('\n');
        if (question->n_reserves > 0 || question->standby_minutes > 0 || question->keep_percent > 0)
                code = print_aside(budget, question);
        table_note("From %s.", joulecast_budget_basis(budget));
        return code;
}

static int make_plan(const struct question *question, struct joulecast_plan **ret)
{
        struct joulecast_plan *plan = NULL;
        int err = joulecast_plan_new(question->app, &plan);

        for (size_t i = 0; i < question->n_reserves && err == 0; i++)
                err = joulecast_plan_reserve(plan, question->reserve_app[i], question->reserve_minutes[i]);
        if (err == 0)
                err = joulecast_plan_standby(plan, question->standby_minutes);
        if (err == 0)
                err = joulecast_plan_keep(plan, question->keep_percent);
        if (err == 0 && !isnan(question->battery_percent))
                err = joulecast_plan_battery(plan, question->battery_percent);
        if (err < 0)
                joulecast_plan_free(plan);
        else
                *ret = plan;
        return err;
}

static int answer(const struct options *options, const struct question *question)
{
        _cleanup_(ask_close) struct ask ask = { 0 };
        struct joulecast_plan *plan = NULL;
        struct joulecast_budget *budget = NULL;
        int code, err;

        code = ask_open(options, &ask);
        if (code != CODE_OK)
                return code;
        err = make_plan(question, &plan);
        if (err == 0)
                err = joulecast_budget_new(ask.profile, ask.usage, plan, &budget);
        if (err < 0)
                code = ask_failed(err);
        else
                code = options->json ? answer_print_json(answer_json(budget_fields, &budget->budget,
                                                                     ask.profile->profile))
                                     : print_answer(budget, options, question);
        if (err == 0 && code == CODE_OK && !options->json)
                answer_note_basis(ask.profile->profile);
        joulecast_budget_free(budget);
        joulecast_plan_free(plan);
        return code;
}

int budget_main(int argc, char **argv)
{
        _cleanup_(question_clear) struct question question = { .battery_percent = NAN };
        const char *word = NULL;
        double suspend_minutes = 0;
        const struct option_row rows[] = {
                { "app", "A", N_("the app that is to run, by its id or its name; without it use goes on as now"),
                  .text = &question.app },
                { "reserve", "B=10m", N_("leave enough for this much time of another app; may be repeated"),
                  .parse = take_reserve,
                  .data = &question, .wants = N_("APP=TIME like phone=10m"),
                  .range = N_("at most 16 times, and at most 1000000 minutes") },
                { "standby", "3h", N_("leave enough for this much time with the screen off, of which the device is "
                                      "suspended for the same part as until now"),
                  OPTION_MINUTES(&question.standby_minutes) },
                { "suspend", "3h", N_("the same as --standby"), OPTION_MINUTES(&suspend_minutes) },
                { "keep", "PERCENT", N_("leave this much charge at the end"), .number = &question.keep_percent,
                  .high = 100, .unit = "%" },
                { "battery-percent", "N", N_("answer as if the battery had this charge"),
                  .number = &question.battery_percent, .high = 100, .unit = "%" },
        };
        const struct option_table command = {
                .called = "joulecast budget",
                .usage = "joulecast budget [APP | --app A] [--reserve B=10m]...\n"
                         "                 [--standby 3h | --suspend 3h] [--keep PERCENT]\n"
                         "                 [--battery-percent N]",
                .about = N_("How long an app can run and leave enough for what is needed later. The time after \"at "
                            "least\" is reached 19 times in 20. The whole device's energy counts: base, the app, "
                            "and the usual background. Without an app: how long the battery lasts if use goes on as "
                            "it is now, and, on the charger, when it is full."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows), .words = &word, .max_words = 1,
        };
        struct options options = { 0 };
        int code;

        code = options_parse(&command, SHARED_ASK, argc, argv, &options);
        if (code >= 0)
                return code;
        if (!options_one_app(word, &question.app))
                return CODE_USAGE;
        if (suspend_minutes > 0 && question.standby_minutes > 0) {
                log_error(&program_log, "--suspend is the same as --standby; give one of them");
                return CODE_USAGE;
        }
        question.standby_minutes += suspend_minutes;
        return answer(&options, &question);
}
