/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top-page.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/joulecast-private.h"
#include "top-text.h"
#include "trace-print.h"
#include "util/text.h"
#include "util/units.h"
#include "util/util.h"
#include "util/words.h"
#include "whatif.h"

#define HOUR_NS (3600 * (int64_t)NS_PER_S)
#define HOURS_MAX 48
#define AROUND 12 /* lines beside the hours */

/* Adds a text, wrapped where it is too long. */
static void add_text(const struct top_subject *subject, enum top_style style, const char *text, struct top_view *view)
{
        _cleanup_free_ char *wrapped = NULL;
        struct text_kept kept;
        char *rest = NULL;
        FILE *stream;

        if (text_width(text) <= subject->columns || !(stream = text_open(&kept))) {
                top_view_pieces(view, style, subject->columns, subject->ascii, (const char *const[]){ text, NULL });
                return;
        }
        text_wrap(stream, text, 0, 0, subject->columns);
        wrapped = text_close(stream, &kept);
        for (char *line = wrapped ? strtok_r(wrapped, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
                top_view_pieces(view, style, subject->columns, subject->ascii, (const char *const[]){ line, NULL });
}

static void add_title(const struct top_subject *subject, struct top_view *view)
{
        top_view_pieces(view, TOP_TITLE, subject->columns, subject->ascii,
                        (const char *const[]){ subject->row->name,
                                               subject->row->key.state == STATE_FOREGROUND ? _("foreground") :
                                                                                             _("background"),
                                               NULL });
}

/* Says why there is no answer. Without memory the page itself fails. */
static void add_why(const struct top_subject *subject, int err, const char *otherwise, struct top_view *view)
{
        view->failed = view->failed || err == -ENOMEM;
        add_text(subject, TOP_PLAIN, *subject->said ? subject->said : otherwise, view);
}

/* Adds the app's present power by component: a narrow terminal has no columns for that. */
static void add_now(const struct top_subject *subject, struct top_view *view)
{
        const struct top_row *row = subject->row;
        char number[32], low[32], high[32], line[160];

        snprintf(line, sizeof(line), _("now %s W"), top_text_number(row->power_w.value, 7, number));
        if (!isnan(row->power_w.low) && row->power_w.value > 0)
                snprintf(line + strlen(line), sizeof(line) - strlen(line), " (%s .. %s)",
                         top_text_number(row->power_w.low, 7, low),
                         top_text_number(row->power_w.high, 7, high));
        add_text(subject, TOP_PLAIN, line, view);
        *line = '\0';
        for (size_t c = 0; c < COMPONENT_BASE; c++)
                if (trace_component_is_shown(subject->ask->profile->profile, c) && row->component_w[c] > 0)
                        snprintf(line + strlen(line), sizeof(line) - strlen(line), "%s%s %s",
                                 *line ? ", " : "", _(component_names[c]),
                                 top_text_number(row->component_w[c], 7, number));
        if (*line)
                add_text(subject, TOP_PLAIN, line, view);
}

struct hours {
        double energy_j[HOURS_MAX]; /* NaN: nothing was recorded */
        size_t n;
        double most_j;
};

/* Energy of the app in both states. */
static double energy_of(const struct cost *cost, const char *app)
{
        double sum_j = 0;

        for (size_t i = 0; i < cost->n_apps; i++)
                if (strcmp(cost->apps[i].app, app) == 0 && !isnan(cost->apps[i].energy_j.value))
                        sum_j += cost->apps[i].energy_j.value;
        return sum_j;
}

static int read_hours(const struct top_subject *subject, int64_t last_ns, struct hours *hours)
{
        for (size_t i = 0; i < hours->n; i++) {
                int64_t from_ns = last_ns - (int64_t)(hours->n - 1 - i) * HOUR_NS;
                struct joulecast_cost *cost = NULL;
                int err = joulecast_cost_new(subject->ask->profile, subject->ask->usage, from_ns,
                                             from_ns + HOUR_NS, &cost);

                if (err && err != -ENODATA)
                        return err;
                hours->energy_j[i] = err ? NAN : energy_of(cost->cost, subject->row->key.app);
                hours->most_j = fmax(hours->most_j, hours->energy_j[i]);
                joulecast_cost_free(cost);
        }
        return 0;
}

static void add_hour(const struct top_subject *subject, int64_t from_ns, const struct hours *hours, double energy_j,
                     struct top_view *view)
{
        double percent_j = J_PER_PERCENT(subject->ask->profile->profile->energy_full_mwh);
        size_t room = subject->columns > 22 ? MIN(subject->columns - 22, (size_t)60) : 0, wide = 0;
        const char *block = subject->ascii ? "#" : "\u2588";
        char time[32], line[512], percent[32], power[32];

        values_print_local(from_ns, time, sizeof(time));
        if (isnan(energy_j)) {
                snprintf(line, sizeof(line), _("%.5s  not recorded"), strchr(time, ' ') ? strchr(time, ' ') + 1 : time);
                add_text(subject, TOP_FAINT, line, view);
                return;
        }
        snprintf(line, sizeof(line), "%.5s%7s%8s ", strchr(time, ' ') ? strchr(time, ' ') + 1 : time,
                 top_text_number(energy_j / 3600, 6, power), top_text_number(energy_j / percent_j, 7, percent));
        if (hours->most_j > 0 && energy_j > 0) /* a coefficient, and so an app's energy, may be below 0 */
                wide = MIN((size_t)lround((double)room * energy_j / hours->most_j), room);
        for (size_t i = 0; i < wide; i++)
                strcat(line, block);
        add_text(subject, TOP_PLAIN, line, view);
}

void top_page_history(const struct top_subject *subject, struct top_view *view)
{
        struct hours hours = { .n = subject->lines > AROUND ? MIN(subject->lines - AROUND, (size_t)HOURS_MAX) : 1 };
        int64_t last_ns = subject->now_ns - subject->now_ns % HOUR_NS;
        int err = subject->ask->usage ? read_hours(subject, last_ns, &hours) : -ENODATA;

        add_title(subject, view);
        add_now(subject, view);
        add_text(subject, TOP_PLAIN, "", view);
        if (err) {
                add_why(subject, err, _("nothing is recorded"), view);
                return;
        }
        /* xgettext:no-c-format */
        add_text(subject, TOP_HEAD, _(" hour      W       %  of a full battery, both states"), view);
        for (size_t i = 0; i < hours.n; i++)
                add_hour(subject, last_ns - (int64_t)(hours.n - 1 - i) * HOUR_NS, &hours, hours.energy_j[i], view);
        add_text(subject, TOP_FAINT, _("hours without a row used nothing"), view);
}

/* The answer of `joulecast whatif --close APP`. */
static int find_gain(const struct top_subject *subject, struct joulecast_gain **ret)
{
        struct joulecast_change *change = NULL;
        int err = joulecast_change_new(&change);

        if (!err)
                err = joulecast_change_close(change, subject->row->key.app);
        if (!err)
                err = joulecast_gain_new(subject->ask->profile, subject->ask->usage, change, ret);
        joulecast_change_free(change);
        return err;
}

static void add_minutes(const struct top_subject *subject, const char *what, size_t wide,
                        struct joulecast_value minutes, struct top_view *view)
{
        char line[128], number[96];

        snprintf(line, sizeof(line), "%s%*s%s", what, (int)(wide - MIN(text_width(what), wide)), "",
                 isnan(minutes.value) ? _("unknown") : whatif_minutes(minutes, number));
        add_text(subject, TOP_PLAIN, line, view);
}

static void add_gain(const struct top_subject *subject, const struct joulecast_gain *gain, struct top_view *view)
{
        const char *closed = _("closed"), *as_it_is = _("as it is"), *gained = _("gained");
        size_t both = MAX(text_width(closed), text_width(as_it_is)), wide = MAX(both, text_width(gained)) + 1;

        if (joulecast_gain_is_nothing(gain)) {
                add_text(subject, TOP_PLAIN, _("closing it gains nothing: it usually uses nothing"), view);
                return;
        }
        add_text(subject, TOP_HEAD, _("how long the battery lasts"), view);
        add_minutes(subject, closed, wide, joulecast_gain_after(gain), view);
        add_minutes(subject, as_it_is, wide, joulecast_gain_before(gain), view);
        add_minutes(subject, gained, wide, joulecast_gain_minutes(gain), view);
        add_text(subject, TOP_FAINT, _("by recorded use; the range holds 9 times in 10"), view);
}

void top_page_gain(const struct top_subject *subject, struct top_view *view)
{
        struct joulecast_gain *gain = NULL;
        int err = subject->ask->usage ? find_gain(subject, &gain) : -ENODATA;

        add_title(subject, view);
        add_now(subject, view);
        add_text(subject, TOP_PLAIN, "", view);
        if (err)
                add_why(subject, err, _("the charge of the battery is unknown, or nothing is recorded of it"), view);
        else
                add_gain(subject, gain, view);
        joulecast_gain_free(gain);
}
