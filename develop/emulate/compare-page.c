/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of `joulecast compare`: a row for each run, with a bar of its components, all on one scale. */

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "answer/options.h"
#include "compare.h"
#include "page/page.h"
#include "page/parts.h"
#include "util/html.h"
#include "util/text.h"
#include "util/util.h"
#include "util/words.h"

static bool component_shown(const struct compared *list, size_t n, int component)
{
        for (size_t i = 0; i < n; i++)
                if (list[i].answer.price.component_j[component] > 0)
                        return true;
        return false;
}

static void print_cell(FILE *file, bool known, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void print_cell(FILE *file, bool known, const char *format, ...)
{
        va_list values;

        va_start(values, format);
        fputs("<td>", file);
        if (known)
                vfprintf(file, format, values);
        else
                fprintf(file, "<span class=\"none\">%s</span>", _("unknown"));
        fputs("</td>", file);
        va_end(values);
}

static void print_runs(FILE *file, const struct compared *list, size_t n)
{
        static const char *const heads[] = { N_("Run"),
                                             "<" N_("Target and network"),
                                             N_("Energy"),
                                             N_("95 % CI"),
                                             N_("Difference"),
                                             N_("95 % CI"),
                                             N_("Battery"),
                                             "<" N_("By component"),
                                             NULL };
        double most_j = 0;

        for (size_t i = 0; i < n; i++)
                most_j = fmax(most_j, list[i].answer.price.energy_j.value);
        page_table(file, _("Energy of each run, and its difference from the first"), heads);
        for (size_t i = 0; i < n; i++) {
                const struct compared *compared = &list[i];
                const struct price *price = &compared->answer.price;

                fputs("<tr><th scope=\"row\">", file);
                html_text(file, compared->name);
                fputs("</th><td class=\"text\">", file);
                html_text(file, compared->answer.target.name);
                fputs(", ", file);
                html_text(file, compared->answer.network.name);
                fputs("</td>", file);
                print_cell(file, true, "%.2f J", price->energy_j.value);
                print_cell(file, true, "%.2f .. %.2f", price->energy_j.low, price->energy_j.high);
                if (i == 0) {
                        fputs("<td></td><td></td>", file);
                } else {
                        print_cell(file, true, "%+.1f %%", compare_percent(list, compared->difference_j.value));
                        print_cell(file, true, "%+.1f .. %+.1f", compare_percent(list, compared->difference_j.low),
                                   compare_percent(list, compared->difference_j.high));
                }
                print_cell(file, isfinite(price->battery_hours.value), "%.1f h", price->battery_hours.value);
                page_component_bar(file, price->component_j, most_j > 0 ? 100 / most_j : 0);
                fputs("</tr>\n", file);
        }
        page_table_end(file);
        fputs("<ul class=\"legend\">", file);
        for (int c = 0; c < COMPONENT_COUNT; c++)
                if (component_shown(list, n, c)) {
                        fputs("<li>", file);
                        page_component_key(file, c);
                        fprintf(file, "%s</li>", _(component_names[c]));
                }
        fputs("</ul>\n", file);
}

static void print_components(FILE *file, const struct compared *list, size_t n)
{
        fprintf(file, "<div class=\"wide\" tabindex=\"0\"><table><thead><tr><th class=\"text\">%s</th>",
                _("Component"));
        for (size_t i = 0; i < n; i++) {
                fputs("<th>", file);
                html_text(file, list[i].name);
                fputs("</th>", file);
        }
        fputs("</tr></thead><tbody>\n", file);
        for (int c = 0; c < COMPONENT_COUNT; c++) {
                if (!component_shown(list, n, c))
                        continue;
                fprintf(file, "<tr><th scope=\"row\">%s</th>", _(component_names[c]));
                for (size_t i = 0; i < n; i++)
                        print_cell(file, isfinite(list[i].answer.price.component_j[c]), "%.2f J",
                                   list[i].answer.price.component_j[c]);
                fputs("</tr>\n", file);
        }
        fputs("</tbody></table></div>\n", file);
}

int compare_page(const struct compared *list, size_t n, const char *path)
{
        struct text_kept kept;
        FILE *file = text_open(&kept);
        _cleanup_free_ char *text = NULL;

        if (!file)
                return -ENOMEM;
        html_begin(file, _("joulecast compare"), words_language(), emulate_css);
        fprintf(file, "<header><h1>%s</h1></header>\n<main>", _("Emulated runs beside each other"));
        page_section(file, "runs", _("Runs"));
        print_runs(file, list, n);
        page_section_end(file);
        page_section(file, "components", _("Energy by component"));
        print_components(file, list, n);
        page_section_end(file);
        fprintf(file, "</main>\n<footer>%s</footer>\n", _("Emulated, not measured: docs/emulation.md says "
                                                          "how right that is."));
        html_end(file);
        text = text_close(file, &kept);
        if (!text)
                return -ENOMEM;
        return page_write(path, text) == CODE_OK ? 0 : -EIO;
}
