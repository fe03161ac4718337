/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "names.h"
#include "options.h"
#include "util/table.h"
#include "util/tuning.h"
#include "util/units.h"
#include "util/util.h"

/* Decimals that show @resolution with two digits of it, at most 4. */
static int decimals(double resolution)
{
        if (!(resolution > 0) || resolution >= 10)
                return 0;
        return (int)fmin(fmax(1 - floor(log10(resolution)), 0), 4);
}

char *answer_print_number(double value, double resolution, char *buf)
{
        if (isnan(value))
                snprintf(buf, 32, "?");
        else
                snprintf(buf, 32, "%.*f", decimals(resolution), value);
        if (strspn(buf, "-0.") == strlen(buf) && buf[0] == '-') /* "-0.00" */
                memmove(buf, buf + 1, strlen(buf));
        return buf;
}

char *answer_print_digits(double value, char *buf)
{
        int before = value != 0 ? (int)floor(log10(fabs(value))) + 1 : 1;

        snprintf(buf, 64, "%.*f", MIN(MAX(3 - before, 0), 12), value);
        return buf;
}

char *answer_print_unresolved(const struct coefficient *coefficient, double half_width, double times, char *buf)
{
        char high[64];

        if (profile_is_resolved(coefficient, half_width))
                return NULL;
        snprintf(buf, 128, _("not resolved, below %s"),
                 answer_print_digits((coefficient->value + half_width) * times, high));
        return buf;
}

static double resolution_of(const struct cost_value *value)
{
        double resolution = isnan(value->high) ? fabs(value->value) / 10 : (value->high - value->low) / 2;

        /* An interval that is wide beside the value shall not hide it. */
        return fmin(resolution, fabs(value->value) / 2);
}

char *answer_print_value(const struct cost_value *value, const char *unit, char *buf)
{
        char number[32];

        if (isnan(value->value))
                snprintf(buf, 64, "?");
        else
                snprintf(buf, 64, "%s %s", answer_print_number(value->value, resolution_of(value), number), unit);
        return buf;
}

char *answer_print_bounds(const struct cost_value *value, char *buf)
{
        char low[32], high[32];

        if (isnan(value->low))
                buf[0] = '\0';
        else
                snprintf(buf, 64, "%s .. %s", answer_print_number(value->low, resolution_of(value), low),
                         answer_print_number(value->high, resolution_of(value), high));
        return buf;
}

char *answer_print_duration(double seconds, char *buf)
{
        double minutes = round(seconds / 60);

        if (isnan(seconds))
                snprintf(buf, 32, "?");
        else if (seconds < 60)
                snprintf(buf, 32, "%.0f s", seconds);
        else if (minutes < 60)
                snprintf(buf, 32, "%.0f min", minutes);
        else if (minutes < 48 * 60)
                snprintf(buf, 32, "%.0f h %.0f min", floor(minutes / 60), fmod(minutes, 60));
        else
                snprintf(buf, 32, _("%.0f d %.0f h"), floor(minutes / 1440), floor(fmod(minutes, 1440) / 60));
        return buf;
}

static void energy_cell(struct table *table, double energy_j)
{
        char buf[32];

        if (isnan(energy_j))
                table_cell(table, "?");
        else
                table_cell(table, "%s J", answer_print_number(energy_j, fmax(fabs(energy_j) / 100, 1), buf));
}

static void power_cell(struct table *table, double energy_j, double seconds)
{
        if (seconds > 0 && !isnan(energy_j))
                table_cell(table, "%.0f mW", energy_j * 1e3 / seconds);
        else
                table_cell(table, "%s", "");
}

/* Adds a cell with the app's name, and with its id where another app has the same name. */
void answer_cost_name(struct table *table, const struct cost *cost, const struct cost_app *app)
{
        char name[APP_ID_MAX + 2];
        bool shared = false;

        for (size_t i = 0; i < cost->n_apps; i++)
                shared = shared || (strcmp(cost->apps[i].name, app->name) == 0 &&
                                    strcmp(cost->apps[i].app, app->app) != 0);
        table_cell(table, shared ? "%s [%s]" : "%s", names_in_table(app->app, app->name, name, sizeof(name)), app->app);
}

static void add_app(struct table *table, const struct cost *cost, const struct cost_app *app)
{
        char percent[64], bounds[64], rate[64], duration[32];
        struct cost_value per_minute = { app->percent_per_minute.value, NAN, NAN };

        table_row(table, TABLE_PLAIN);
        answer_cost_name(table, cost, app);
        table_cell(table, "%s", _(answer_state(app->state)));
        table_cell(table, "%s", answer_print_value(&app->percent, "%", percent));
        table_cell(table, "%s", answer_print_bounds(&app->percent, bounds));
        table_cell(table, "%s", isnan(per_minute.value) ? "" : answer_print_value(&per_minute, "%/min", rate));
        power_cell(table, app->energy_j.value, app->active_s);
        energy_cell(table, app->energy_j.value);
        table_cell(table, "%s", app->active_s > 0 ? answer_print_duration(app->active_s, duration) : "");
}

static void add_line(struct table *table, enum table_style style, const char *name, const struct cost_value *energy_j,
                     double seconds, const struct profile *profile)
{
        struct cost_value percent = cost_percent(energy_j, profile);
        char text[64], bounds[64], duration[32];

        table_row(table, style);
        table_cell(table, "%s", name);
        table_cell(table, "%s", "");
        table_cell(table, "%s", answer_print_value(&percent, "%", text));
        table_cell(table, "%s", answer_print_bounds(&percent, bounds));
        table_cell(table, "%s", "");
        power_cell(table, energy_j->value, seconds);
        energy_cell(table, energy_j->value);
        table_cell(table, "%s", seconds > 0 ? answer_print_duration(seconds, duration) : "");
}

/* Its interval has both signs. */
static bool cannot_tell(const struct cost_value *unexplained_j)
{
        return unexplained_j->low < 0 && unexplained_j->high > 0;
}

static void add_unexplained(struct table *table, const struct cost_value *unexplained_j, double seconds,
                            const struct profile *profile)
{
        struct cost_value percent = cost_percent(unexplained_j, profile);
        char bounds[64], duration[32];

        if (!cannot_tell(unexplained_j)) {
                add_line(table, TABLE_FAINT, _("unattributed"), unexplained_j, seconds, profile);
                return;
        }
        percent.value = percent.high - percent.low; /* for the number of digits */
        table_texts(table, TABLE_FAINT, _("unattributed"), "", _("cannot tell"),
                    answer_print_bounds(&percent, bounds), "", "", "",
                    answer_print_duration(seconds, duration), NULL);
}

/* Rows below a thousandth of the total become one, where there are several; JSON has each. */
size_t answer_cost_shown(const struct cost *cost, struct cost_value *rest_j)
{
        double least_j = 1e-3 * cost->total_j.value;
        size_t n = cost->n_apps; /* dearest first */

        *rest_j = (struct cost_value){ 0, NAN, NAN };
        while (n > 0 && cost->apps[n - 1].energy_j.value < least_j)
                rest_j->value += cost->apps[--n].energy_j.value;
        return cost->n_apps - n < 4 ? cost->n_apps : n;
}

static void add_apps(struct table *table, const struct cost *cost, const struct profile *profile)
{
        struct cost_value rest_j;
        size_t n = answer_cost_shown(cost, &rest_j);
        char name[64];

        for (size_t i = 0; i < n; i++)
                add_app(table, cost, &cost->apps[i]);
        if (n == cost->n_apps)
                return;
        snprintf(name, sizeof(name), words_counted("%zu other", "%zu others", cost->n_apps - n), cost->n_apps - n);
        add_line(table, TABLE_PLAIN, name, &rest_j, 0, profile);
}

char *answer_print_span(int64_t from_ns, int64_t to_ns, double recorded_s, char *buf)
{
        double span_s = (double)(to_ns - from_ns) / 1e9;
        bool all = isnan(recorded_s) || fabs(span_s - recorded_s) <= 0.01 * span_s;
        char from[32], to[32], duration[32];

        values_print_local(from_ns, from, sizeof(from));
        values_print_local(to_ns, to, sizeof(to));
        snprintf(buf, 128, all ? "%s .. %s (%s)" : _("%s .. %s (%s recorded)"), from, to,
                 answer_print_duration(all ? span_s : recorded_s, duration));
        return buf;
}

void answer_cost_title(const struct cost *cost, const struct profile *profile)
{
        const char *device = profile->device[0] ? profile->device : _("unnamed");

        if (cost->from_ns == INT64_MIN) {
                table_text(TABLE_PLAIN, "Profile %s", device);
        } else {
                char span[128];

                table_text(TABLE_PLAIN, "%s, profile %s",
                           answer_print_span(cost->from_ns, cost->to_ns, cost->recorded_s, span), device);
        }
        putchar('\n');
}

static bool has_other_programs(const struct cost *cost)
{
        bool has = false;

        for (size_t i = 0; i < cost->n_apps; i++)
                has = has || strcmp(cost->apps[i].app, TUNING_OTHER_APPS) == 0;
        return has;
}

/* Word for the class of devices that a profile is for: "laptop" for "class-laptop". */
static const char *class_word(const struct profile *profile)
{
        static const char *const words[] = { N_("laptop"), N_("phone"), N_("tablet"), N_("handheld") };
        const char *dash = strchr(profile->device, '-');

        for (size_t i = 0; dash && i < ARRAY_SIZE(words); i++)
                if (strcmp(words[i], dash + 1) == 0)
                        return _(words[i]);
        return dash ? dash + 1 : _("device");
}

void answer_note_basis(const struct profile *profile)
{
        const char *basis = profile_basis(profile);

        if (strcmp(basis, "class") == 0 && !isnan(profile->learned.spans))
                table_note("These numbers are of a usual %s, corrected by what everyday use showed.",
                           class_word(profile));
        else if (strcmp(basis, "class") == 0) /* the medians of docs/calibration.md and docs/accuracy.md */
                table_note("These numbers are of a usual %s; joulecast calibrate makes them this device's "
                           "own, and a total is then off by some 1 %% instead of 7 %%.", class_word(profile));
        else if (strcmp(basis, "shipped") == 0)
                table_note("These numbers are of another %s; joulecast calibrate makes them this device's own.",
                           *profile->device ? profile->device : _("device"));
}

void answer_note_profile(const struct profile *profile)
{
        answer_note_basis(profile);
        if (strcmp(profile_basis(profile), "class") == 0)
                return;
        if (isnan(profile->degrees_of_freedom))
                table_note("This profile has no error estimates.");
        if (profile_validated(profile) < 0)
                table_note("This profile was never validated.");
        else if (profile_validated(profile) == 0)
                table_note("This profile failed its validation: states that were not fitted took another power than it "
                           "predicts.");
}

const char *answer_part(const char *name, char *buf, size_t size)
{
        const char *uncounted = strstr(name, " (not counted)");

        if (!uncounted || uncounted[strlen(" (not counted)")])
                return _(name);
        snprintf(buf, size, "%.*s", (int)(uncounted - name), name);
        snprintf(buf, size, _("%s (not counted)"), _(strdupa(buf)));
        return buf;
}

void answer_cost_notes(const struct cost *cost, const struct profile *profile)
{
        char list[1024] = "", number[32], part[128];

        if (!isnan(cost->base_j))
                table_note("Base: power that no app causes (idle, WiFi association, background of the system).");
        if (has_other_programs(cost))
                table_note("Other programs: too many ended at once, or had new names, to be told apart; their sum.");
        if (cannot_tell(&cost->unexplained_j))
                table_note("Unattributed: battery less model total; the steps of the battery's level and the model's "
                           "error hide whether there is any.");
        else if (!isnan(cost->unexplained_j.value))
                table_note("Unattributed: battery less model total; it may be negative.");
        else if (!isnan(cost->measured_j.value) && !isnan(cost->total_j.value))
                table_note("Unattributed energy is unknown, as the device was not on battery power all the time.");
        if (cost->n_sleeps > 0)
                table_note(words_counted("Suspended time: priced by the power measured in %u sleep of this device.",
                                         "Suspended time: priced by the power measured in %u sleeps of this device.",
                                         cost->n_sleeps), cost->n_sleeps);
        answer_note_profile(profile);
        if (isnan(profile->learned.spans) && !isnan(profile->degrees_of_freedom) && cost->n_apps > 0)
                table_note("Wide: the power of apps that no counter shows is unknown until joulecast learn has seen "
                           "some days of use.");
        if (cost->cpu_spread_j > 0)
                table_note("Wide: for some of the time the frequency of the CPUs is unknown, or outside of the "
                           "measured range. The intervals reach from the cheapest to the dearest operating point that "
                           "it may have been (%s J to either side).",
                           answer_print_number(cost->cpu_spread_j, cost->cpu_spread_j / 10, number));
        if (cost->disk_spread_j > 0)
                table_note("Bytes are not counted by storage: the disk's part is the mean of the cheapest "
                           "and the dearest storage, and the intervals reach from one to the other (%s J to "
                           "either side).",
                           answer_print_number(cost->disk_spread_j, cost->disk_spread_j / 10, number));
        for (size_t i = 0; i < cost->n_not_measured; i++) {
                size_t length = strlen(list);

                snprintf(list + length, sizeof(list) - length, "%s%s", i ? ", " : "",
                         answer_part(cost->not_measured[i], part, sizeof(part)));
        }
        if (list[0])
                table_note("Not measured, and in no sum: %s.", list);
}

static void print_total(const struct cost *cost, const struct profile *profile)
{
        struct cost_value percent = cost_percent(&cost->total_j, profile);
        char total[64], bounds[64];

        table_note(isnan(cost->base_j) ? N_("Model total of the apps: %s (95 %% CI %s)") :
                   N_("Model total: %s (95 %% CI %s)"),
                   answer_print_value(&percent, "%", total), answer_print_bounds(&percent, bounds));
}

int answer_cost_table(const struct cost *cost, const struct profile *profile)
{
        _cleanup_(table_freep) struct table *table = table_new("nlrrrrrr");
        double seconds = cost->from_ns == INT64_MIN ? 0 : !isnan(cost->recorded_s) ? cost->recorded_s :
                         (double)(cost->to_ns - cost->from_ns) / 1e9;
        bool intervals = !isnan(cost->total_j.low);
        const struct cost_value base_j = { cost->base_j, NAN, NAN }, total_j = { cost->total_j.value, NAN, NAN };

        table_spare(table, "65473");
        table_heads(table, N_("App"), N_("State"), N_("Battery"), intervals ? N_("95 % CI") : "", N_("Rate"),
                    N_("Power"), N_("Energy"), N_("Time"), NULL);
        add_apps(table, cost, profile);
        if (!isnan(cost->base_j))
                add_line(table, TABLE_FAINT, _("base"), &base_j, seconds, profile);
        if (!isnan(cost->unexplained_j.value))
                add_unexplained(table, &cost->unexplained_j, seconds, profile);
        if (!isnan(cost->measured_j.value))
                add_line(table, TABLE_SUM, _("battery"), &cost->measured_j, seconds, profile);
        else
                add_line(table, TABLE_SUM, _("model total"), &total_j, seconds, profile);
        answer_cost_title(cost, profile);
        table_print(table);
        putchar('\n');
        if (intervals)
                print_total(cost, profile);
        answer_cost_notes(cost, profile);
        return CODE_OK;
}
