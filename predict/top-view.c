/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top-view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "top-text.h"
#include "trace-print.h"
#include "util/text.h"
#include "util/units.h"
#include "util/util.h"

#define COLUMNS_MAX 240
#define LINE_MAX_BYTES (4 * COLUMNS_MAX + 64)

/* Columns, each with the blanks before it. */
#define MARK 1        /* mark of the selected row */
#define NUMBER 7      /* power, percent an hour, used */
#define BOUNDS 8
#define COMPONENT 6    /* at least */

/* A column is shown if it leaves that much for the names. */
#define NAME_LEAST 10
#define NAME_WITH_BOUNDS 12
#define NAME_WITH_COMPONENTS 16
#define NAME_WITH_STATE_LONG 24

#define HEADER 3      /* lines above the heads */
#define SUMS 4
#define HINTS_MAX 15
#define LINES_ALL 14  /* a lower terminal has neither hints nor the model total */

struct layout {
        size_t name, state, bounds, rate, used;
        bool long_state;
        size_t components[COMPONENT_BASE];
        size_t n;
};

static const char *const component_heads[COMPONENT_BASE] = { N_("CPU"), N_("Disp"), N_("Disk"), N_("WiFi"),
                                                             N_("GPU"), N_("Cell"), N_("GPS"),  N_("Audio"),
                                                             N_("Cam"), N_("Other") };

/* Width of a column with a blank before its head, and no less than its numbers need. */
static size_t columns_of(const char *word, size_t least)
{
        return MAX(text_width(_(word)) + 1, least);
}

static size_t component_columns(size_t component)
{
        return columns_of(component_heads[component], COMPONENT);
}

void top_view_clear(struct top_view *view)
{
        for (size_t i = 0; i < view->n; i++)
                free(view->lines[i].text);
        free(view->lines);
        *view = (struct top_view){ 0 };
}

void top_view_add(struct top_view *view, enum top_style style, const char *text)
{
        char *copy = strdup(text);

        if (!copy || util_grow(&view->lines, &view->capacity, view->n + 1, sizeof(*view->lines)) < 0) {
                free(copy);
                view->failed = true;
                return;
        }
        view->lines[view->n++] = (struct top_line){ style, copy };
}

void top_view_pieces(struct top_view *view, enum top_style style, size_t columns, bool ascii, const char *const *pieces)
{
        char line[LINE_MAX_BYTES] = "", safe[512];
        size_t width = 0, length = 0;

        for (; *pieces; pieces++) {
                size_t blanks = length > 0 ? 2 : 0, wide;

                if (!**pieces)
                        continue;
                top_text_safe(*pieces, ascii, safe, sizeof(safe));
                wide = text_width(safe);
                if (length > 0 && width + blanks + wide > columns)
                        continue;
                if (wide > columns)
                        top_text_fit(strcpy(line, safe), columns, ascii, safe, sizeof(safe));
                length += (size_t)snprintf(line + length, sizeof(line) - length, "%*s%s", (int)blanks, "", safe);
                width += blanks + MIN(wide, columns);
        }
        top_view_add(view, style, line);
}

/* Chooses the columns of components: if not all fit, those that an app used so far first. Returns the free columns. */
static size_t lay_out_components(const struct top_frame *frame, size_t left, struct layout *layout)
{
        bool taken[COMPONENT_BASE] = { false };

        for (int used = 1; used >= 0; used--)
                for (size_t c = 0; c < COMPONENT_BASE; c++) {
                        if (frame->table->used[c] != used || !trace_component_is_shown(frame->profile, c) ||
                            left < NAME_WITH_COMPONENTS + component_columns(c))
                                continue;
                        taken[c] = true;
                        left -= component_columns(c);
                }
        for (size_t c = 0; c < COMPONENT_BASE; c++)
                if (taken[c])
                        layout->components[layout->n++] = c;
        return left;
}

static struct layout lay_out(const struct top_frame *frame)
{
        struct layout layout = { .rate = NUMBER, .used = columns_of(N_("Used %"), NUMBER) };
        size_t state_short = MAX(columns_of(N_("fg"), 0), columns_of(N_("bg"), 0));
        size_t state_long = MAX(columns_of(N_("foreground"), 0), columns_of(N_("background"), 0));
        size_t left = MIN(frame->columns, (size_t)COLUMNS_MAX) - MIN(frame->columns, (size_t)MARK);

        if (left < NAME_LEAST + 2 * NUMBER + layout.used)
                layout.used = 0;
        if (left < NAME_LEAST + 2 * NUMBER)
                layout.rate = 0;
        left -= MIN(left, NUMBER + layout.rate + layout.used);
        if (left >= NAME_LEAST + state_short)
                layout.state = state_short;
        left -= layout.state;
        if (left >= NAME_WITH_BOUNDS + BOUNDS)
                layout.bounds = BOUNDS;
        left -= layout.bounds;
        left = lay_out_components(frame, left, &layout);
        layout.long_state = layout.state && left >= NAME_WITH_STATE_LONG + state_long - state_short;
        if (layout.long_state) {
                left -= state_long - state_short;
                layout.state = state_long;
        }
        layout.name = left;
        return layout;
}

/* A line that is being written. */
struct writing {
        const struct top_frame *frame;
        char text[LINE_MAX_BYTES];
        size_t length;
};

static void put(struct writing *to, const char *text, size_t columns, bool right)
{
        char cell[LINE_MAX_BYTES];
        size_t blank = columns > text_width(text) ? columns - text_width(text) : 0;

        if (columns == 0)
                return;
        if (right)
                snprintf(cell, sizeof(cell), "%*s%s", (int)blank, "", text);
        else
                top_text_fit(text, columns, to->frame->ascii, cell, sizeof(cell));
        to->length += (size_t)snprintf(to->text + to->length, sizeof(to->text) - to->length, "%s", cell);
}

static void put_number(struct writing *to, double value, size_t columns)
{
        char text[32];

        put(to, top_text_number(value, (int)columns, text), columns, true);
}

static void put_bounds(struct writing *to, const struct cost_value *value, size_t columns)
{
        char number[32], text[48];

        if (!value || value->value == 0) {
                put(to, "", columns, true);
                return;
        }
        top_text_number(value->high - value->value, (int)columns - (to->frame->ascii ? 2 : 1), number);
        snprintf(text, sizeof(text), "%s%s", *number == '?' ? "" : to->frame->ascii ? "+-" : "\u00b1", number);
        put(to, text, columns, true);
}

/* One row: a name, its state, power, and what it used so far. */
struct cells {
        const char *name, *state;
        double power_w, energy_j;
        const struct cost_value *bounds;
        const double *component_w;
};

static void add_cells(const struct top_frame *frame, const struct layout *layout, const char *mark,
                      enum top_style style, const struct cells *cells, struct top_view *view)
{
        double percent_j = J_PER_PERCENT(frame->profile->energy_full_mwh);
        struct writing to = { .frame = frame };

        put(&to, mark, MARK, false);
        put(&to, cells->name, layout->name, false);
        put(&to, cells->state, layout->state, true);
        put_number(&to, cells->power_w, NUMBER);
        put_bounds(&to, cells->bounds, layout->bounds);
        put_number(&to, cells->power_w * 3600 / percent_j, layout->rate);
        put_number(&to, cells->energy_j / percent_j, layout->used);
        for (size_t i = 0; cells->component_w && i < layout->n; i++)
                put_number(&to, cells->component_w[layout->components[i]], component_columns(layout->components[i]));
        top_view_add(view, style, to.text);
}

static void add_heads(const struct top_frame *frame, const struct layout *layout, struct top_view *view)
{
        struct writing to = { .frame = frame };

        put(&to, "", MARK, false);
        put(&to, _("App"), layout->name, false);
        put(&to, layout->long_state ? _("State") : "", layout->state, true);
        put(&to, "W", NUMBER, true);
        put(&to, frame->ascii ? "+-" : "\u00b1", layout->bounds, true);
        put(&to, "%/h", layout->rate, true);
        put(&to, _("Used %"), layout->used, true);
        for (size_t i = 0; i < layout->n; i++)
                put(&to, _(component_heads[layout->components[i]]), component_columns(layout->components[i]), true);
        top_view_add(view, TOP_HEAD, to.text);
}

static const char *state_word(const struct layout *layout, enum app_state state)
{
        bool front = state == STATE_FOREGROUND;

        if (layout->long_state)
                return front ? _("foreground") : _("background");
        return front ? _("fg") : _("bg");
}

static void add_rows(const struct top_frame *frame, const struct layout *layout, struct top_view *view)
{
        const struct top_table *table = frame->table;
        size_t room = top_view_room(frame), end = MIN(table->n_shown, frame->first + room);

        for (size_t i = frame->first; i < end; i++) {
                const struct top_row *row = table->shown[i];
                bool selected = frame->hints && i == frame->selected;
                const struct cells cells = { row->name, state_word(layout, row->key.state), row->power_w.value,
                                             row->energy_j[table->since], &row->power_w, row->component_w };

                add_cells(frame, layout, selected ? ">" : "",
                          selected                           ? TOP_SELECTED :
                          row->key.state == STATE_FOREGROUND ? TOP_FOREGROUND :
                                                               TOP_PLAIN,
                          &cells, view);
        }
        for (size_t i = end - MIN(frame->first, end); frame->lines > 0 && i < room; i++)
                top_view_add(view, TOP_PLAIN, "");
}

static bool has_all(const struct top_frame *frame)
{
        return frame->lines == 0 || frame->lines >= LINES_ALL;
}

static void add_sums(const struct top_frame *frame, const struct layout *layout, struct top_view *view)
{
        const struct top_table *table = frame->table;
        const struct top_sums *sums = &table->sums;
        const struct cells base = { _("base"),    "",
                                    sums->base_w, sums->base_j[table->since],
                                    NULL,         sums->base_component_w },
                           total = { _("model total"), "",  sums->total_w.value, sums->total_j[table->since],
                                     &sums->total_w,   NULL },
                           rest = { _("unattributed"),
                                    "",
                                    sums->unattributed_w,
                                    sums->unattributed_j[table->since],
                                    NULL,
                                    NULL },
                           battery = { _("battery"), "",  sums->battery_w, sums->battery_j[table->since],
                                       NULL,         NULL };
        char name[64];
        const struct cells hidden = { name, "", table->hidden_w, table->hidden_j, NULL, NULL };

        snprintf(name, sizeof(name), _("(%zu not shown)"), table->n_hidden);
        if (table->n_hidden > 0)
                add_cells(frame, layout, "", TOP_FAINT, &hidden, view);
        add_cells(frame, layout, "", TOP_SUM, &base, view);
        if (has_all(frame))
                add_cells(frame, layout, "", TOP_SUM, &total, view);
        add_cells(frame, layout, "", TOP_SUM, &rest, view);
        add_cells(frame, layout, "", TOP_SUM, &battery, view);
}

size_t top_view_room(const struct top_frame *frame)
{
        size_t taken = HEADER + 1 + (has_all(frame) ? SUMS + (frame->hints ? 1 : 0) : SUMS - 1) +
                       (frame->table->n_hidden > 0);

        if (frame->lines == 0)
                return frame->table->n_shown;
        return frame->lines > taken ? frame->lines - taken : 0;
}

static void add_header(const struct top_frame *frame, struct top_view *view)
{
        char time[32], charge[64], power[96], number[32], rate[32];
        const struct cost_value *total = &frame->table->sums.total_w;
        double shown_w = isnan(frame->table->sums.battery_w) ? total->value : frame->table->sums.battery_w;
        const char *clock;

        values_print_local(frame->time_ns, time, sizeof(time));
        clock = strchr(time, ' ') ? strchr(time, ' ') + 1 : time;
        *charge = *power = '\0';
        if (!isnan(frame->percent))
                snprintf(charge, sizeof(charge), "%.0f %%%s%s", frame->percent, frame->plugged < 0 ? "" : ", ",
                         frame->plugged < 0 ? "" : frame->plugged ? _("plugged in") : _("on battery"));
        if (frame->table->read && !isnan(shown_w))
                snprintf(power, sizeof(power), "%s W, %s %%/h", top_text_number(shown_w, 6, number),
                         top_text_number(shown_w * 3600 / J_PER_PERCENT(frame->profile->energy_full_mwh), 5, rate));
        top_view_pieces(view, TOP_TITLE, frame->columns, frame->ascii,
                        (const char *const[]){ "joulecast top", clock, charge, NULL });
        top_view_pieces(view, TOP_PLAIN, frame->columns, frame->ascii,
                        (const char *const[]){ *power ? power : _("measuring..."), frame->remaining, NULL });
}

static void add_status(const struct top_frame *frame, struct top_view *view)
{
        const struct top_table *table = frame->table;
        char count[96], filter[96];

        snprintf(count, sizeof(count), words_counted("%zu row by %s%s", "%zu rows by %s%s", table->n_shown),
                 table->n_shown, _(top_sort_name(table->sort)), table->reverse ? _(", reversed") : "");
        snprintf(filter, sizeof(filter), _("Filter: %s%s"), table->filter, frame->filtering ? "_" : "");
        if (frame->message[0])
                top_view_pieces(view, TOP_FAINT, frame->columns, frame->ascii,
                                (const char *const[]){ frame->message, NULL });
        else
                top_view_pieces(view, TOP_FAINT, frame->columns, frame->ascii,
                                (const char *const[]){ frame->filtering || *table->filter ? filter : "", count,
                                                       frame->about, NULL });
}

void top_view_make(const struct top_frame *frame, struct top_view *view)
{
        struct layout layout = lay_out(frame);
        const char *hints[HINTS_MAX + 1] = { NULL };
        size_t n = 0;

        add_header(frame, view);
        add_status(frame, view);
        add_heads(frame, &layout, view);
        add_rows(frame, &layout, view);
        add_sums(frame, &layout, view);
        for (; frame->hints && n < HINTS_MAX && frame->hints[n]; n++)
                hints[n] = _(frame->hints[n]);
        if (frame->hints && has_all(frame))
                top_view_pieces(view, TOP_FAINT, frame->columns, frame->ascii, hints);
}
