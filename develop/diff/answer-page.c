/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The page of `joulecast diff`: sentences about the comparison, and the data from which the script in
 * develop/diff/page/ makes tables and pictures. Trees are arrays of numbers with one element for each node
 * from the root down, and names are indices into a list of texts.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "page/page.h"
#include "sentences.h"
#include "util/html.h"
#include "util/text.h"
#include "util/util.h"
#include "util/words.h"

/* Texts that the script shows. */
static const struct {
        const char *key, *text;
} words[] = {
        { "title", N_("joulecast diff") },
        { "tasks", N_("Tasks") },
        { "task", N_("Task") },
        { "from", N_("From") },
        { "bars", N_("A and B, and their intervals") },
        { "interval", N_("95 % CI") },
        { "more_in_a", N_("more in A") },
        { "more_in_b", N_("more in B") },
        { "calls", N_("Calls") },
        { "rank", N_("Plain rank") },
        { "value", N_("Value") },
        { "frame", N_("Frame") },
        { "sure", N_("differs for sure") },
        { "unsure", N_("chance can explain this difference") },
        { "not_seen", N_("not seen") },
        { "possible", N_("perhaps another task") },
        { "search", N_("Search") },
        { "show", N_("Show") },
        { "show_all", N_("all tasks") },
        { "show_sure", N_("what differs for sure") },
        { "show_only_a", N_("only in A") },
        { "show_only_b", N_("only in B") },
        { "sort", N_("Sort by") },
        { "sort_printed", N_("sure, then difference") },
        { "count", N_("Tasks: %zu of %zu") },
        { "more", N_("Show %zu more") },
        { "line", N_("thin lines are confidence intervals") },
        { "whole", N_("Both programs from the start") },
        { "back", N_("All tasks") },
        { "previous", N_("Previous") },
        { "next", N_("Next") },
        { "path", N_("How it is called") },
        { "step", N_("Same?") },
        { "in_a", N_("only in A") },
        { "in_b", N_("only in B") },
        { "renamed", N_("another name") },
        { "trees", N_("What is done for it") },
        { "where", N_("Frames whose own cost differs most") },
        { "collapse", N_("Collapse what is the same") },
        { "same", N_("frames below, the same in both: %zu") },
        { "hidden", N_("Too narrow to be drawn: %zu. Zoom in to see them.") },
        { "found", N_("Frames: %zu, A %s, B %s") },
        { "nothing", N_("Nothing was measured here.") },
        { "zoom", N_("Zoomed to") },
        { "unknown", N_("unknown") },
        { "key_lone", N_("striped: only in this program") },
        { "key_renamed", N_("dashed: another name in the other program") },
        { "key_same", N_("dotted: collapsed, the same in both") },
        { "key_gap", N_("gap: the other program needs more here") },
        { "keys", N_("A grows upwards, B downwards, on one scale. Click or press Enter to zoom in, Escape to zoom "
                     "out; the arrow keys go to callees, the caller and neighbours.") },
};

/* Numbers of each task. */
static const struct {
        const char *key;
        size_t at; /* in struct task: a double; NAN: null */
} numbers[] = {
        { "a_value", offsetof(struct task, a.interval.value) },
        { "a_low", offsetof(struct task, a.interval.low) },
        { "a_high", offsetof(struct task, a.interval.high) },
        { "a_calls", offsetof(struct task, a.calls) },
        { "b_value", offsetof(struct task, b.interval.value) },
        { "b_low", offsetof(struct task, b.interval.low) },
        { "b_high", offsetof(struct task, b.interval.high) },
        { "b_calls", offsetof(struct task, b.calls) },
        { "difference", offsetof(struct task, difference.value) },
        { "difference_low", offsetof(struct task, difference.low) },
        { "difference_high", offsetof(struct task, difference.high) },
};

static void print_number(FILE *file, double value)
{
        char text[32];

        /* No -0. */
        fputs(isfinite(value) ? util_print_double(value == 0 ? 0 : value, text, sizeof(text)) : "null", file);
}

static void print_task_number(FILE *file, const struct comparison *comparison, const char *key, size_t at)
{
        fprintf(file, "\"%s\":[", key);
        for (size_t i = 0; i < comparison->n; i++) {
                fputs(i ? "," : "", file);
                print_number(file, *(const double *)(const void *)((const char *)&comparison->tasks[i] + at));
        }
        fputs("],\n", file);
}

static void print_advice(FILE *file, const struct comparison *comparison, size_t i)
{
        char buf[SENTENCE_SIZE];
        const struct task *task = &comparison->tasks[i];
        const char *advice = task->significant ? sentences_advice(comparison, task, buf) : NULL;

        fputs(i ? "," : "", file);
        if (advice)
                html_json(file, advice);
        else
                fputs("null", file);
}

static void print_tasks(FILE *file, const struct comparison *comparison)
{
        fputs("\"tasks\":{\n", file);
        for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
                print_task_number(file, comparison, numbers[i].key, numbers[i].at);
        fputs("\"a_node\":[", file);
        for (size_t i = 0; i < comparison->n; i++)
                fprintf(file, "%s%d", i ? "," : "", comparison->tasks[i].a.node);
        fputs("],\n\"b_node\":[", file);
        for (size_t i = 0; i < comparison->n; i++)
                fprintf(file, "%s%d", i ? "," : "", comparison->tasks[i].b.node);
        fputs("],\n\"plain_rank_a\":[", file);
        for (size_t i = 0; i < comparison->n; i++) {
                fputs(i ? "," : "", file);
                print_number(file, comparison->tasks[i].plain_rank_a < 0 ? NAN : comparison->tasks[i].plain_rank_a);
        }
        fputs("],\n\"plain_rank_b\":[", file);
        for (size_t i = 0; i < comparison->n; i++) {
                fputs(i ? "," : "", file);
                print_number(file, comparison->tasks[i].plain_rank_b < 0 ? NAN : comparison->tasks[i].plain_rank_b);
        }
        fputs("],\n\"advice\":[", file);
        for (size_t i = 0; i < comparison->n; i++)
                print_advice(file, comparison, i);
        fputs("],\n\"significant\":[", file);
        for (size_t i = 0; i < comparison->n; i++)
                fprintf(file, "%s%d", i ? "," : "", comparison->tasks[i].significant);
        fputs("],\n\"match\":[", file);
        for (size_t i = 0; i < comparison->n; i++)
                fprintf(file, "%s%d", i ? "," : "", (int)comparison->tasks[i].match);
        fputs("]}", file);
}

/* Prints parts of labels: a letter of enum context_class, a name, and a library after a tab. 0; a negative errno. */
static int print_labels(FILE *file, const struct labels *labels, struct labels *strings)
{
        int32_t number = 0;

        fputs("\"labels\":{\"class\":\"", file);
        for (size_t i = 0; i < labels->n; i++)
                fputc(*labels_text(labels, (int32_t)i), file);
        fputs("\",\n\"name\":[", file);
        for (size_t i = 0; number >= 0 && i < labels->n; i++) {
                const char *name = labels_text(labels, (int32_t)i) + 1;

                number = labels_add(strings, name, strcspn(name, "\t"));
                fprintf(file, "%s%d", i ? "," : "", number);
        }
        fputs("],\n\"dso\":[", file);
        for (size_t i = 0; number >= 0 && i < labels->n; i++) {
                const char *name = labels_text(labels, (int32_t)i) + 1, *library = name + strcspn(name, "\t");

                library += *library == '\t';
                number = labels_add(strings, library, strlen(library));
                fprintf(file, "%s%d", i ? "," : "", number);
        }
        fputs("]}", file);
        return number < 0 ? number : 0;
}

/* Prints the self cost of a node. Seven digits are more than a picture shows. */
static void print_self(FILE *file, const struct side *side, int32_t node)
{
        fprintf(file, "%s%.7g", node ? "," : "", side_self(side, node));
}

static int print_tree(FILE *file, const struct side *side, struct labels *strings)
{
        const struct tree *tree = &side->contexts.tree;
        const struct stacks *stacks = &side->stacks;
        int32_t number = 0;

        fputs("{\"depth\":[", file);
        for (int32_t i = 0; i < tree->n; i++)
                fprintf(file, "%s%d", i ? "," : "", tree->depth[i]);
        fputs("],\n\"label\":[", file);
        for (int32_t i = 0; i < tree->n; i++)
                fprintf(file, "%s%d", i ? "," : "", side->contexts.label[i]);
        fputs("],\n\"self\":[", file);
        for (int32_t i = 0; i < tree->n; i++)
                print_self(file, side, i);
        fputs("],\n\"frame\":[", file);
        for (int32_t i = 0; number >= 0 && i < tree->n; i++) {
                const char *frame = labels_text(&stacks->labels, stacks->trie.label[side->contexts.origin[i]]);

                number = labels_add(strings, frame, strlen(frame));
                fprintf(file, "%s%d", i ? "," : "", number);
        }
        fputs("]}", file);
        return number < 0 ? number : 0;
}

static void print_pair(FILE *file, const char *key, const char *a, const char *b)
{
        fprintf(file, "\"%s\":[", key);
        html_json(file, a);
        fputc(',', file);
        html_json(file, b);
        fputs("],\n", file);
}

static const char *program_of(const struct side *side)
{
        const struct stacks *stacks = &side->stacks;

        return stacks->trie.n > 1 ? labels_text(&stacks->labels, stacks->trie.label[1]) : "";
}

static int print_data(FILE *file, const struct comparison *comparison)
{
        const struct side *a = comparison->a, *b = comparison->b;
        _cleanup_(labels_clear) struct labels strings = { 0 };
        int err;

        fputs("<script type=\"application/json\" id=\"data\">{\n\"words\":{", file);
        for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
                fprintf(file, "%s\"%s\":", i ? ",\n" : "", words[i].key);
                html_json(file, _(words[i].text));
        }
        fprintf(file, "},\n\"unit\":\"%s\",\n\"sample\":[%.7g,%.7g],\n", a->unit,
                a->sample / (double)a->contexts.n_runs, b->sample / (double)b->contexts.n_runs);
        print_pair(file, "names", a->name, b->name);
        print_pair(file, "programs", program_of(a), program_of(b));
        print_tasks(file, comparison);
        fputs(",\n", file);
        err = print_labels(file, comparison->labels, &strings);
        fputs(",\n\"trees\":[", file);
        if (err == 0)
                err = print_tree(file, a, &strings);
        fputs(",\n", file);
        if (err == 0)
                err = print_tree(file, b, &strings);
        fputs("],\n\"partner\":[", file);
        for (int32_t i = 0; i < a->contexts.tree.n; i++)
                fprintf(file, "%s%d", i ? "," : "", comparison->match.partner[i]);
        fputs("],\n\"strings\":[", file);
        for (size_t i = 0; i < strings.n; i++) {
                fputs(i ? "," : "", file);
                html_json(file, labels_text(&strings, (int32_t)i));
        }
        fputs("]}</script>\n", file);
        return err;
}

static void print_sentences(FILE *file, const struct comparison *comparison, int alpha, enum sentence from,
                            enum sentence to)
{
        char buf[SENTENCE_SIZE];

        for (int i = from; i < (int)to; i++) {
                const char *sentence = sentences_make(comparison, alpha, comparison->n, (enum sentence)i, buf);

                if (!sentence)
                        continue;
                fprintf(file, "<p%s>", i < SENTENCE_NOTES ? "" : " class=\"note\"");
                html_text(file, sentence);
                fputs("</p>\n", file);
        }
}

static void print_facts(FILE *file, const struct comparison *comparison)
{
        char value[SENTENCE_SIZE];

        fputs("<dl class=\"facts\">\n", file);
        for (size_t i = 0; i < SENTENCE_FACTS; i++) {
                fputs("<dt>", file);
                html_text(file, sentences_fact(comparison, i, value));
                fputs("</dt><dd>", file);
                html_text(file, value);
                fputs("</dd>\n", file);
        }
        fputs("</dl>\n", file);
}

static int print_page(FILE *file, const struct comparison *comparison, int alpha)
{
        int err;

        html_begin_script(file, _("joulecast diff"), words_language(), diff_css, diff_js_hash);
        fprintf(file, "<header>\n<h1>%s</h1>\n", _("Two programs, task by task"));
        print_sentences(file, comparison, alpha, SENTENCE_SIDES, SENTENCE_NOTES);
        print_facts(file, comparison);
        print_sentences(file, comparison, alpha, SENTENCE_NOTES, SENTENCE_COUNT);
        fprintf(file, "</header>\n<main>\n<noscript><p>%s</p></noscript>\n",
                _("The table and the pictures of this page need JavaScript. It loads nothing. joulecast diff "
                  "prints the table."));
        fprintf(file, "<section id=\"list\" aria-label=\"%s\"></section>\n"
                "<section id=\"detail\" aria-labelledby=\"title\" hidden></section>\n", _("Tasks"));
        fputs("</main>\n<footer>", file);
        fprintf(file, _("Made by joulecast %s. A task is a call from the app into a framework, with all that "
                        "is done for it."),
                JOULECAST_VERSION);
        fputs("</footer>\n", file);
        err = print_data(file, comparison);
        fprintf(file, "<script>%s</script>\n", diff_js);
        html_end(file);
        return err;
}

char *answer_page(const struct comparison *comparison, int alpha)
{
        struct text_kept kept = { 0 };
        FILE *file = text_open(&kept);
        char *text;
        int err;

        if (!file)
                return NULL;
        err = print_page(file, comparison, alpha);
        text = text_close(file, &kept);
        if (err < 0) {
                free(text);
                return NULL;
        }
        return text;
}
