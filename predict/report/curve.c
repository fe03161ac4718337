/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The battery's level over time, and below it the consumption of the base and the apps, stacked. */

#include <math.h>

#include "names.h"
#include "report.h"
#include "util/html.h"
#include "util/units.h"
#include "util/util.h"
#include "util/words.h"

#define LAYERS (REPORT_COLOURED + 2) /* base, other apps, and those with a colour, from below */

/* The stack and its unit: percent of the battery per hour, or per day. */
struct stack {
        const struct report *report;
        double per_s;
        const char *unit;
        size_t n_apps; /* apps with a colour of their own */
};

static double slot_layer_j(const struct stack *stack, const struct timeline_slot *slot, size_t layer)
{
        double others_j = slot->others_j;

        if (layer == 0)
                return isnan(slot->base_j) ? 0 : slot->base_j;
        if (layer > 1)
                return layer - 2 < stack->n_apps ? fmax(slot->apps_j[stack->n_apps - 1 - (layer - 2)], 0) : 0;
        for (size_t a = stack->n_apps; a < stack->report->timeline->n_apps; a++)
                others_j += slot->apps_j[a];
        return fmax(others_j, 0);
}

/* Percent per hour or day of recorded time; 0 for a slot that was hardly recorded. */
static double rate(const struct stack *stack, const struct timeline_slot *slot, double energy_j)
{
        return slot->recorded_s < 30 ? 0 : energy_j / stack->report->percent_j / slot->recorded_s * stack->per_s;
}

static double height_of(const struct stack *stack, const struct timeline_slot *slot, size_t layers)
{
        double energy_j = 0;

        for (size_t layer = 0; layer < layers; layer++)
                energy_j += slot_layer_j(stack, slot, layer);
        return rate(stack, slot, energy_j);
}

static struct stack make_stack(const struct report *report)
{
        bool by_day = report->timeline->slot_s >= TIMELINE_DAY_S;

        return (struct stack){ report, by_day ? 86400 : 3600, by_day ? _("% a day") : _("% an hour"),
                               MIN(report->timeline->n_apps, (size_t)REPORT_COLOURED) };
}

static const char *layer_class(const struct stack *stack, size_t layer, char buf[8])
{
        if (layer < 2)
                return layer ? "others" : "base";
        snprintf(buf, 8, "c%zu", stack->n_apps - (layer - 2));
        return buf;
}

/* One closed outline: the upper edge forward, the lower one back. */
static void draw_layer(const struct plot *plot, const struct stack *stack, size_t layer)
{
        const struct timeline *timeline = stack->report->timeline;
        char class[8];

        fprintf(plot->file, "<path class=\"layer %s\" d=\"M0 %d", layer_class(stack, layer, class), plot->height);
        for (size_t i = 0; i < timeline->n_slots; i++) {
                const struct timeline_slot *slot = &timeline->slots[i];

                fprintf(plot->file, "L%.1f %.1fH%.1f", plot_x(plot, slot->start_ns),
                        plot_y(plot, height_of(stack, slot, layer + 1)), plot_x(plot, slot->end_ns));
        }
        for (size_t i = timeline->n_slots; i-- > 0;) {
                const struct timeline_slot *slot = &timeline->slots[i];

                fprintf(plot->file, "L%.1f %.1fH%.1f", plot_x(plot, slot->end_ns),
                        plot_y(plot, height_of(stack, slot, layer)), plot_x(plot, slot->start_ns));
        }
        fputs("Z\"/>\n", plot->file);
}

/* Draws the tooltips: the values of each slot as text. */
static void draw_tips(const struct plot *plot, const struct stack *stack)
{
        const struct timeline *timeline = stack->report->timeline;
        char when[32];

        for (size_t i = 0; i < timeline->n_slots; i++) {
                const struct timeline_slot *slot = &timeline->slots[i];
                double x = plot_x(plot, slot->start_ns);

                fprintf(plot->file,
                        "<rect class=\"tip\" x=\"%.1f\" width=\"%.1f\" height=\"%d\"><title>%s: %.3g %s", x,
                        plot_x(plot, slot->end_ns) - x, plot->height,
                        page_when(slot->start_ns, timeline->slot_s >= TIMELINE_DAY_S, when),
                        height_of(stack, slot, LAYERS), stack->unit);
                for (size_t a = 0; a < stack->n_apps; a++) {
                        double part = rate(stack, slot, slot->apps_j[a]);

                        if (part <= 0.02 * plot->top)
                                continue;
                        fputs("; ", plot->file);
                        html_text(plot->file, timeline->apps[a].name);
                        fprintf(plot->file, " %.2g", part);
                }
                fputs("</title></rect>\n", plot->file);
        }
}

static void draw_stack(FILE *file, const struct stack *stack)
{
        const struct timeline *timeline = stack->report->timeline;
        struct plot plot = { file, timeline->from_ns, timeline->to_ns, 0, 0, 220, stack->unit };

        for (size_t i = 0; i < timeline->n_slots; i++)
                plot.top = fmax(plot.top, height_of(stack, &timeline->slots[i], LAYERS));
        plot.top = plot_nice(plot.top);
        plot_begin(&plot, "stack", _("What drew from the battery"),
                   _("The base and the apps, stacked, over time. The table of apps below has their sums."));
        for (size_t layer = 0; layer < stack->n_apps + 2; layer++)
                draw_layer(&plot, stack, layer);
        draw_tips(&plot, stack);
        plot_end(&plot);
}

/* In the order of the stack, from above. */
static void legend(FILE *file, const struct stack *stack)
{
        const struct timeline *timeline = stack->report->timeline;
        double layers_j[LAYERS] = { 0 }, total_j = 0;

        for (size_t i = 0; i < timeline->n_slots; i++)
                for (size_t layer = 0; layer < LAYERS; layer++)
                        layers_j[layer] += slot_layer_j(stack, &timeline->slots[i], layer);
        for (size_t layer = 0; layer < LAYERS; layer++)
                total_j += layers_j[layer];
        fprintf(file, "<ol class=\"legend\" aria-label=\"%s\">\n", _("Layers of the picture, from above"));
        for (size_t layer = stack->n_apps + 2; layer-- > 0;) {
                size_t app = stack->n_apps - 1 - (layer - 2);
                char class[8];

                if (layer == 1 && layers_j[layer] <= 0) /* no other apps */
                        continue;
                fprintf(file, "<li><span class=\"key %s\"></span>", layer_class(stack, layer, class));
                if (layer > 1)
                        page_name(file, timeline->apps[app].app, timeline->apps[app].name);
                else
                        fputs(layer ? _("other apps") : _("base, which no app causes"), file);
                fprintf(file, " <b>%.0f&nbsp;%%</b></li>\n", total_j > 0 ? 100 * layers_j[layer] / total_j : 0);
        }
        fputs("</ol>\n", file);
}

/* A line where levels follow each other, a gap where not. */
static void draw_levels(FILE *file, const struct report *report)
{
        const struct timeline *timeline = report->timeline;
        struct plot plot = { file, timeline->from_ns, timeline->to_ns, 100, 0, 150, "%" };
        char when[32];

        plot_begin(&plot, "level", _("Charge of the battery"), _("The level of the battery in percent over time."));
        for (size_t i = 0; i < timeline->n_levels; i++) {
                const struct timeline_level *level = &timeline->levels[i];

                fprintf(file, "%s%.1f %.1f",
                        level->follows ? "L" :
                        i              ? "\"/>\n<path class=\"level\" d=\"M" :
                                         "<path class=\"level\" d=\"M",
                        plot_x(&plot, level->time_ns), plot_y(&plot, level->percent));
        }
        fputs(timeline->n_levels ? "\"/>\n" : "", file);
        for (size_t i = 1; i < timeline->n_levels; i++) {
                const struct timeline_level *before = &timeline->levels[i - 1], *level = &timeline->levels[i];
                double x = plot_x(&plot, before->time_ns);

                fprintf(file, "<rect class=\"tip\" x=\"%.1f\" width=\"%.1f\" height=\"150\"><title>%s: %.0f "
                              "%%</title></rect>\n", x,
                        plot_x(&plot, level->time_ns) - x, page_when(level->time_ns, false, when), level->percent);
        }
        plot_end(&plot);
}

void report_curve(FILE *file, const struct report *report)
{
        struct stack stack = make_stack(report);

        page_section(file, "curve", _("Battery and apps"));
        fprintf(file, "<h3>%s</h3>\n", _("Charge of the battery"));
        if (report->timeline->n_levels > 1)
                draw_levels(file, report);
        else
                fprintf(file, "<p>%s</p>\n", _("The level of the battery is not known in this time."));
        if (report->timeline->n_levels > 1 && report->timeline->slot_s >= TIMELINE_DAY_S)
                fprintf(file, "<p class=\"note\">%s</p>\n", _("For this long only the levels at which a charger was "
                                                              "connected or removed are kept; between them the line "
                                                              "is straight."));
        fputs("<h3>", file);
        fprintf(file, _("What drew from it, in %s"), stack.unit);
        fputs("</h3>\n", file);
        draw_stack(file, &stack);
        legend(file, &stack);
        page_section_end(file);
}
