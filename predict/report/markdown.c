/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The report as Markdown, for issues and wikis: the facts of the page as tables, without its pictures. */

#include "markdown.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "answer.h"
#include "names.h"
#include "util/units.h"
#include "util/util.h"
#include "util/words.h"

#define NO_BREAK "\xe2\x80\x8b" /* zero-width space: behind @ or # it prevents a mention of a person or an issue */

void markdown_text(FILE *file, const char *text)
{
        char printable[1024];

        util_printable(text, printable, sizeof(printable));
        for (const char *at = printable; *at; at++) {
                if (*at == '<')
                        fputs("&lt;", file);
                else if (*at == '>')
                        fputs("&gt;", file);
                else if (*at == '&')
                        fputs("&amp;", file);
                else if (*at == '|')
                        fputs("&#124;", file); /* not all renderers know \\| in a table */
                else if (*at == '@' || *at == '#')
                        fprintf(file, "\\%c" NO_BREAK, *at);
                else if (strchr("\\`*_{}[]!~$^:", *at) ||
                         (*at == '.' && at - printable >= 3 && strncasecmp(at - 3, "www", 3) == 0))
                        fprintf(file, "\\%c", *at);
                else
                        fputc(*at, file);
        }
}

void markdown_table(FILE *file, const char *caption, const char *const *heads)
{
        fprintf(file, "**%s**\n\n|", _(caption));
        for (size_t i = 0; heads[i]; i++)
                fprintf(file, " %s |", _(heads[i] + (*heads[i] == '<')));
        fputs("\n|", file);
        for (size_t i = 0; heads[i]; i++)
                fputs(i == 0 || *heads[i] == '<' ? "---|" : "---:|", file);
        fputs("\n", file);
}

void markdown_table_end(FILE *file)
{
        fputs("\n", file);
}

void markdown_row(FILE *file)
{
        fputs("|", file);
}

void markdown_row_end(FILE *file)
{
        fputs("\n", file);
}

void markdown_word(FILE *file, const char *word)
{
        fprintf(file, " %s |", word);
}

void markdown_name(FILE *file, const char *app, const char *name)
{
        char buf[APP_ID_MAX + 2];

        fputs(" ", file);
        markdown_text(file, names_in_table(app, name, buf, sizeof(buf)));
        fputs(" |", file);
}

void markdown_time(FILE *file, int64_t time_ns, bool day_only)
{
        char text[32];

        markdown_word(file, page_when(time_ns, day_only, text));
}

void markdown_number(FILE *file, double value, double resolution, const char *unit)
{
        char text[32];

        if (isnan(value))
                markdown_word(file, _("unknown"));
        else
                fprintf(file, " %s%s%s |", answer_print_number(value, resolution, text), *unit ? " " : "", unit);
}

void markdown_bounds(FILE *file, const struct cost_value *value, const char *unit)
{
        char text[64];

        if (isnan(value->low) || isnan(value->high))
                markdown_word(file, _("unknown"));
        else
                fprintf(file, " %s%s%s |", answer_print_bounds(value, text), *unit ? " " : "", unit);
}

void markdown_value(FILE *file, const struct cost_value *value, const char *unit)
{
        markdown_number(file, value->value, report_half(value), unit);
        markdown_bounds(file, value, unit);
}

static void summary(FILE *file, const struct report *report)
{
        const struct cost *cost = report->cost;
        char number[32], recorded[32];

        if (!isnan(cost->measured_j.value))
                fprintf(file, _("- The battery gave %s %s.\n"),
                        answer_print_number(cost->measured_j.value / report->share_j, 1, number),
                        report_share_words(report));
        if (!isnan(cost->total_j.value))
                fprintf(file, _("- By the model: %s %s.\n"),
                        answer_print_number(cost->total_j.value / report->share_j, 1, number),
                        report_share_words(report));
        fprintf(file, _("- Recorded: %s.\n\n"), answer_print_duration(cost->recorded_s, recorded));
}

void report_markdown(FILE *file, const struct report *report)
{
        char from[32], to[32];

        fprintf(file, "# %s\n\n", _("What the battery was used for"));
        fprintf(file, _("%s to %s"), page_when(report->timeline->from_ns, false, from),
                page_when(report->timeline->to_ns, false, to));
        if (*report->profile->device) {
                fputs(" \xc2\xb7 ", file);
                markdown_text(file, report->profile->device);
        }
        fputs("\n\n", file);
        summary(file, report);
        markdown_costs(file, report);
        markdown_times(file, report);
        markdown_compare(file, report);
        markdown_battery(file, report);
        markdown_model(file, report);
        fprintf(file, _("Made by joulecast %s. Percent is of the energy of a full battery. Intervals of "
                        "costs hold 19 times in 20. Times are local.\n"), JOULECAST_VERSION);
}
