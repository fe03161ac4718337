/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "contexts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "overrides.h"
#include "util/util.h"

/* State of a node of the stacks, while its part of the contexts is made. */
struct place {
        int32_t node;  /* its node in the trie */
        int32_t self;  /* node in the trie for the values of stacks that end here */
        int32_t depth;
        char class;    /* class of the last frame; enum context_class */
        int32_t carrier; /* library of the carrier that these frames belong to; -1: none */
        bool started;  /* a frame that is no start code was seen */
        bool app;      /* a frame of the app was seen */
        bool called;   /* a named function of the app was seen */
};

/* A label that was put on the path, and its entry in @path before that. */
struct undo {
        int32_t depth, before, label;
};

struct maker {
        const struct stacks *stacks;
        const struct context_rules *rules;
        struct labels *labels;
        struct contexts *contexts;
        struct place *places;
        double *weight;        /* inclusive cost of each node of the stacks, in all runs */
        double *origin_weight; /* weight of the origin of each node of the trie; -1: it has none yet */
        int32_t *path; /* for each label of the contexts, its node of the trie on the current path, + 1; 0: it is not
                          on the path */
        size_t n_path;
        int32_t *shown;        /* for each label of the stacks that is a carrier, the label with its own name */
        int32_t *library;      /* for each label of the stacks, the label of its library */
        int32_t *name;         /* for each label of the stacks, its label in the contexts; -1: none */
        char *class;           /* enum frame_class of each label of the stacks */
        /* Node of the stacks that names the program for which a label was looked up; 0: it was not yet. */
        int32_t *named_for;
        int32_t program_node;
        struct undo undo[2 * STACKS_DEPTH_MAX];
        size_t n_undo;
        struct frame frame;
        const char *program;
};

static void maker_free(struct maker **maker)
{
        if (!*maker)
                return;
        free((*maker)->places);
        free((*maker)->weight);
        free((*maker)->origin_weight);
        free((*maker)->path);
        free((*maker)->shown);
        free((*maker)->library);
        free((*maker)->name);
        free((*maker)->class);
        free((*maker)->named_for);
        free(*maker);
}

static void free_values(double **values, size_t n)
{
        for (size_t i = 0; values && i < n; i++)
                free(values[i]);
        free(values);
}

void contexts_clear(struct contexts *contexts)
{
        trie_clear(&contexts->trie);
        tree_clear(&contexts->tree);
        free(contexts->program);
        free(contexts->label);
        free(contexts->shown);
        free(contexts->trie_shown);
        free(contexts->trie_app);
        free(contexts->origin);
        free(contexts->trie_origin);
        free(contexts->without_app);
        free(contexts->largest);
        free(contexts->trie_largest);
        free_values(contexts->value, contexts->n_runs);
        free_values(contexts->self, contexts->n_runs);
        free_values(contexts->square, contexts->n_runs);
        free_values(contexts->trie_self, contexts->n_runs);
        free_values(contexts->trie_square, contexts->n_runs);
        *contexts = (struct contexts){ 0 };
}

int32_t contexts_label(struct labels *labels, enum context_class class, const char *name, const char *library)
{
        char text[2 * FRAME_NAME_MAX + 8];
        int length = snprintf(text, sizeof(text), "%c%s%s%s", class, name, *library ? "\t" : "", library);

        return labels_add(labels, text, (size_t)length);
}

/* The node of this label below @parent. @origin: the node of the stacks that it is made of. */
static int32_t child(struct maker *maker, int32_t parent, int32_t label, int32_t origin)
{
        int32_t node = label < 0 ? label : trie_child(&maker->contexts->trie, parent, label);

        if (node >= 0 && maker->weight[origin] > maker->origin_weight[node]) {
                maker->origin_weight[node] = maker->weight[origin];
                maker->contexts->trie_origin[node] = origin;
        }
        return node;
}

/* Finds the class of a label of the stacks, and its label in the contexts, once for each program. */
static int look_up(struct maker *maker, int32_t raw)
{
        int32_t label = -1;

        if (maker->named_for[raw] == maker->program_node)
                return 0;
        if (frame_read(labels_text(&maker->stacks->labels, raw), maker->program, &maker->rules->frames,
                       &maker->frame) < 0)
                return -ENOMEM;
        maker->class[raw] = (char)maker->frame.class;
        if (maker->frame.class == FRAME_INTERRUPT || maker->frame.class == FRAME_FAULT)
                label = contexts_label(maker->labels, CONTEXT_INTERRUPT,
                                       maker->frame.class == FRAME_FAULT ? "[page fault]" : "[interrupt]", "");
        else if (maker->frame.class == FRAME_APP)
                label = contexts_label(maker->labels, CONTEXT_APP, maker->frame.name, "");
        else if (maker->frame.class == FRAME_FRAMEWORK)
                label = contexts_label(maker->labels, CONTEXT_FRAMEWORK, maker->frame.name, maker->frame.dso);
        if (maker->frame.class == FRAME_CARRIER) {
                label = contexts_label(maker->labels, CONTEXT_FRAMEWORK, CONTEXT_CARRIER, "");
                maker->contexts->carrier = label;
                maker->shown[raw] =
                        contexts_label(maker->labels, CONTEXT_FRAMEWORK, maker->frame.name, maker->frame.dso);
        }
        maker->library[raw] =
                contexts_label(maker->labels, CONTEXT_ROOT, "", *maker->frame.dso ? maker->frame.dso : "-");
        if (maker->shown[raw] < 0 || maker->library[raw] < 0)
                return MIN(maker->shown[raw], maker->library[raw]);
        maker->name[raw] = label;
        maker->named_for[raw] = maker->program_node;
        return label < -1 ? label : 0; /* no errno is 1 here */
}

/* The label of an inlined function, or of a frame without a name: it has the class and library of its caller. */
static int32_t inherited_label(struct maker *maker, int32_t raw, const struct place *above, char *class)
{
        const char *text = labels_text(maker->labels, maker->contexts->trie.label[above->node]),
                   *library = strchr(text, '\t');

        if (frame_read(labels_text(&maker->stacks->labels, raw), maker->program, &maker->rules->frames,
                       &maker->frame) < 0)
                return -ENOMEM;
        *class = above->class == CONTEXT_FRAMEWORK ? CONTEXT_FRAMEWORK : CONTEXT_APP;
        return contexts_label(maker->labels, (enum context_class)*class, maker->frame.name,
                              *class == CONTEXT_FRAMEWORK && library ? library + 1 : "");
}

static int make_room(struct maker *maker, int32_t label)
{
        size_t n = maker->n_path;

        if ((size_t)label < n)
                return 0;
        if (util_grow(&maker->path, &maker->n_path, (size_t)label + 1, sizeof(*maker->path)) < 0)
                return -ENOMEM;
        memset(maker->path + n, 0, (maker->n_path - n) * sizeof(*maker->path));
        return 0;
}

static void remember(struct maker *maker, int32_t label, int32_t node, int32_t depth)
{
        maker->undo[maker->n_undo++] = (struct undo){ depth, maker->path[label], label };
        maker->path[label] = node + 1;
}

static void forget(struct maker *maker, int32_t depth)
{
        for (; maker->n_undo > 0 && maker->undo[maker->n_undo - 1].depth >= depth; maker->n_undo--)
                maker->path[maker->undo[maker->n_undo - 1].label] = maker->undo[maker->n_undo - 1].before;
}

/* The node of a frame of the app or of a framework. */
static int32_t step(struct maker *maker, int32_t origin, const struct place *above, const struct place *place,
                    int32_t label)
{
        int32_t group = overrides_label(maker->rules->overrides, label), node;

        if (label < 0 || make_room(maker, label) < 0)
                return label < 0 ? label : -ENOMEM;
        if (maker->path[label]) /* recursion */
                return maker->path[label] - 1;
        if (place->class == CONTEXT_APP && above->class == CONTEXT_APP && !maker->rules->keep)
                node = above->node;
        else if (place->class == CONTEXT_FRAMEWORK && group == maker->contexts->trie.label[above->node])
                node = above->node; /* one method overrides the other */
        else
                node = child(maker, above->node, group, origin);
        if (node >= 0)
                remember(maker, label, node, place->depth);
        return node;
}

/*
 * The node of a thread or an event loop. Several in a row are one, so that gtk_main() and g_application_run() are
 * the same; they are no recursion.
 */
static int32_t carry(struct maker *maker, int32_t origin, const struct place *above, int32_t label)
{
        int32_t raw = maker->stacks->trie.label[origin], node = above->node;

        if (above->carrier < 0)
                node = child(maker, above->node, label, origin);
        if (node >= 0 && maker->contexts->trie_shown[node] < 0)
                maker->contexts->trie_shown[node] = maker->shown[raw];
        return node;
}

/* Gives the loader's frame, which starts the app, one name with and without debug symbols. */
static int32_t loader_label(struct maker *maker, int32_t label)
{
        return strcmp(labels_text(maker->labels, label) + 1, "[unknown]\tld") == 0 ?
                       contexts_label(maker->labels, CONTEXT_FRAMEWORK, "_dl_start", "ld") :
                       label;
}

/* Is it a framework's frame between a carrier and the functions that it carries? */
static bool is_carried(const struct maker *maker, int32_t raw, const struct place *above)
{
        enum frame_class class = (enum frame_class)maker->class[raw];

        return above->carrier >= 0 && (class == FRAME_START || class == FRAME_INHERIT ||
                                       (class == FRAME_FRAMEWORK && maker->library[raw] == above->carrier));
}

static bool ends_here(const struct stacks *stacks, int32_t origin)
{
        for (size_t run = 0; run < stacks->n_runs; run++)
                if (stacks_value(&stacks->runs[run], (size_t)origin) > 0)
                        return true;
        return false;
}

/* The node of a function of the app as a task: a call below the app's node, without calls below it. */
static int32_t own_node(struct maker *maker, int32_t origin, int32_t node, int32_t label)
{
        const char *name = labels_text(maker->labels, label) + 1;
        bool named = strcmp(name, "[unknown]") != 0;
        char copy[FRAME_NAME_MAX]; /* a new label may move the others */

        snprintf(copy, sizeof(copy), "%s", name);
        copy[strcspn(copy, "\t")] = '\0';
        return child(maker, node,
                     contexts_label(maker->labels, CONTEXT_FRAMEWORK, copy, named ? CONTEXT_OWN : maker->program),
                     origin);
}

static int visit(struct maker *maker, int32_t origin)
{
        int32_t raw = maker->stacks->trie.label[origin], node, label;
        const struct place *above = &maker->places[maker->stacks->trie.parent[origin]];
        struct place *place = &maker->places[origin];
        int err = look_up(maker, raw);

        if (err < 0)
                return err;
        *place = *above;
        place->depth++;
        forget(maker, place->depth);
        label = maker->name[raw];
        if (above->class == CONTEXT_INTERRUPT || (maker->class[raw] == FRAME_START && !above->started))
                return 0;
        if (maker->class[raw] == FRAME_CALLER)
                return 0;
        place->started = true;
        if (is_carried(maker, raw, above))
                return 0;
        place->carrier = -1;
        switch ((enum frame_class)maker->class[raw]) {
        case FRAME_APP:
                place->class = CONTEXT_APP;
                place->called = true;
                node = step(maker, origin, above, place, label);
                break;
        case FRAME_FRAMEWORK:
                place->class = CONTEXT_FRAMEWORK;
                if (!above->called)
                        label = loader_label(maker, label);
                node = step(maker, origin, above, place, label);
                break;
        case FRAME_CARRIER:
                place->class = CONTEXT_FRAMEWORK;
                node = carry(maker, origin, above, label);
                place->carrier = maker->library[raw];
                break;
        case FRAME_INTERRUPT:
        case FRAME_FAULT:
                place->class = CONTEXT_INTERRUPT;
                node = child(maker, above->node, label, origin);
                break;
        default:
                label = inherited_label(maker, raw, above, &place->class);
                node = step(maker, origin, above, place, label);
        }
        place->app |= place->class == CONTEXT_APP;
        place->node = place->self = node;
        if (node >= 0 && place->class == CONTEXT_APP)
                maker->contexts->trie_app[node] = 1;
        if (node >= 0 && maker->rules->own && place->class == CONTEXT_APP &&
            (maker->rules->frames.python || ends_here(maker->stacks, origin)))
                place->self = own_node(maker, origin, node, label);
        return node < 0 ? node : place->self < 0 ? place->self : 0;
}

/* Room for the contexts' nodes: at most as many as the stacks have, and as many for functions of the app as tasks. */
static size_t count_nodes(const struct maker *maker)
{
        return (maker->stacks->trie.n + 1) * (maker->rules->own ? 2 : 1);
}

static int allocate(struct maker *maker)
{
        const struct stacks *stacks = maker->stacks;
        struct contexts *contexts = maker->contexts;
        size_t n = stacks->trie.n + 1, n_nodes = count_nodes(maker), n_labels = stacks->labels.n + 1;

        maker->places = calloc(n, sizeof(*maker->places));
        maker->weight = calloc(n, sizeof(*maker->weight));
        maker->origin_weight = calloc(n_nodes, sizeof(*maker->origin_weight));
        maker->name = calloc(n_labels, sizeof(*maker->name));
        maker->shown = calloc(n_labels, sizeof(*maker->shown));
        maker->library = calloc(n_labels, sizeof(*maker->library));
        contexts->trie_app = calloc(n_nodes, 1);
        contexts->carrier = -1;
        contexts->trie_shown = malloc(n_nodes * sizeof(*contexts->trie_shown));
        maker->class = calloc(n_labels, 1);
        maker->named_for = calloc(n_labels, sizeof(*maker->named_for));
        contexts->trie_origin = calloc(n_nodes, sizeof(*contexts->trie_origin));
        contexts->trie_self = calloc(stacks->n_runs + 1, sizeof(*contexts->trie_self));
        contexts->trie_square = calloc(stacks->n_runs + 1, sizeof(*contexts->trie_square));
        contexts->self = calloc(stacks->n_runs + 1, sizeof(*contexts->self));
        contexts->square = calloc(stacks->n_runs + 1, sizeof(*contexts->square));
        contexts->value = calloc(stacks->n_runs + 1, sizeof(*contexts->value));
        contexts->without_app = calloc(stacks->n_runs + 1, sizeof(*contexts->without_app));
        contexts->n_runs = stacks->n_runs;
        return maker->places && maker->weight && maker->origin_weight && maker->name && maker->shown &&
                               maker->library && contexts->trie_shown && contexts->trie_app && maker->class &&
                               maker->named_for && contexts->trie_origin && contexts->trie_self &&
                               contexts->trie_square && contexts->self && contexts->value && contexts->square &&
                               contexts->without_app
                       ? 0
                       : -ENOMEM;
}

static void weigh(struct maker *maker, const int32_t *order)
{
        const struct stacks *stacks = maker->stacks;

        for (size_t i = stacks->trie.n; i-- > 0;) {
                int32_t node = order[i];

                for (size_t run = 0; run < stacks->n_runs; run++)
                        maker->weight[node] += stacks_value(&stacks->runs[run], (size_t)node);
                if (node > 0)
                        maker->weight[stacks->trie.parent[node]] += maker->weight[node];
        }
        for (size_t i = 0; i < count_nodes(maker); i++) {
                maker->origin_weight[i] = -1;
                maker->contexts->trie_shown[i] = -1;
        }
}

/* Adds the values of each run to the nodes of their stacks, in an order that is not that of the input. */
static int fill(struct maker *maker, const int32_t *order)
{
        const struct stacks *stacks = maker->stacks;
        struct contexts *contexts = maker->contexts;

        contexts->trie_largest = calloc(contexts->trie.n, sizeof(*contexts->trie_largest));
        if (!contexts->trie_largest)
                return -ENOMEM;
        for (size_t i = 0; i < stacks->trie.n; i++) {
                double *largest = &contexts->trie_largest[maker->places[i].self];

                *largest = fmax(*largest, stacks_largest(stacks, i));
        }
        for (size_t run = 0; run < stacks->n_runs; run++) {
                contexts->trie_self[run] = calloc(contexts->trie.n, sizeof(double));
                if (stacks->runs[run].square)
                        contexts->trie_square[run] = calloc(contexts->trie.n, sizeof(double));
                if (!contexts->trie_self[run] || (stacks->runs[run].square && !contexts->trie_square[run]))
                        return -ENOMEM;
                for (size_t i = 0; i < stacks->trie.n; i++) {
                        const struct place *place = &maker->places[order[i]];
                        double value = stacks_value(&stacks->runs[run], (size_t)order[i]);

                        contexts->trie_self[run][place->self] += value;
                        if (contexts->trie_square[run])
                                contexts->trie_square[run][place->self] +=
                                        stacks_square(&stacks->runs[run], (size_t)order[i]);
                        if (!place->app)
                                contexts->without_app[run] += value;
                }
        }
        return 0;
}

static int visit_all(struct maker *maker, const int32_t *order)
{
        const struct stacks *stacks = maker->stacks;
        int32_t root = contexts_label(maker->labels, CONTEXT_ROOT, "", "");
        int err;

        root = child(maker, -1, root, 0);
        if (root < 0)
                return root;
        maker->places[0].class = CONTEXT_ROOT;
        maker->places[0].carrier = -1;
        for (size_t i = 1; i < stacks->trie.n; i++) {
                int32_t node = order[i];

                if (stacks->trie.parent[node] == 0) { /* the app's name */
                        forget(maker, 0);
                        maker->program = stacks->program ?
                                                 stacks->program :
                                                 labels_text(&stacks->labels, stacks->trie.label[node]);
                        maker->program_node = node;
                        if (!maker->contexts->program && !(maker->contexts->program = strdup(maker->program)))
                                return -ENOMEM;
                        maker->places[node] = maker->places[0];
                        continue;
                }
                err = visit(maker, node);
                if (err < 0)
                        return err;
        }
        return 0;
}

int contexts_make(const struct stacks *stacks, const struct context_rules *rules, struct labels *labels,
                  struct contexts *ret)
{
        _cleanup_(contexts_clear) struct contexts contexts = { 0 };
        _cleanup_(maker_free) struct maker *maker = calloc(1, sizeof(*maker));
        _cleanup_free_ int32_t *rank = NULL, *order = NULL;
        int err;

        if (!maker)
                return -ENOMEM;
        maker->stacks = stacks;
        maker->rules = rules;
        maker->labels = labels;
        maker->contexts = &contexts;
        err = allocate(maker);
        if (err == 0)
                err = labels_rank(&stacks->labels, &rank);
        if (err == 0)
                err = trie_order(&stacks->trie, rank, stacks->labels.n, &order);
        if (err < 0)
                return err;
        weigh(maker, order);
        err = visit_all(maker, order);
        if (err == 0)
                err = fill(maker, order);
        if (err < 0)
                return err;
        *ret = contexts;
        contexts = (struct contexts){ 0 };
        return 0;
}

/* Subtracts from each carrier the cost of the app's functions below it, which is their own or their tasks'. */
static int take_carried(const struct contexts *contexts, const int32_t *order, double *values)
{
        int32_t n = contexts->tree.n;
        _cleanup_free_ double *carried = contexts->carrier >= 0 ? calloc((size_t)n, sizeof(*carried)) : NULL;

        if (contexts->carrier < 0)
                return 0;
        if (!carried)
                return -ENOMEM;
        for (int32_t i = n - 1; i > 0; i--)
                carried[contexts->tree.parent[i]] += contexts->trie_app[order[i]] ? values[i] : carried[i];
        for (int32_t i = 1; i < n; i++)
                if (contexts->label[i] == contexts->carrier)
                        values[i] = fmax(0, values[i] - carried[i]);
        return 0;
}

static int finish_squares(struct contexts *contexts, const int32_t *order, size_t run)
{
        int32_t n = contexts->tree.n;

        if (!contexts->trie_square[run])
                return 0;
        contexts->square[run] = calloc((size_t)n, sizeof(double));
        if (!contexts->square[run])
                return -ENOMEM;
        for (int32_t i = n - 1; i >= 0; i--) {
                contexts->square[run][i] += contexts->trie_square[run][order[i]];
                if (i > 0)
                        contexts->square[run][contexts->tree.parent[i]] += contexts->square[run][i];
        }
        return take_carried(contexts, order, contexts->square[run]);
}

static void finish_largest(struct contexts *contexts, const int32_t *order)
{
        for (int32_t i = contexts->tree.n - 1; i >= 0; i--) {
                contexts->largest[i] = fmax(contexts->largest[i], contexts->trie_largest[order[i]]);
                if (i > 0) {
                        double *above = &contexts->largest[contexts->tree.parent[i]];

                        *above = fmax(*above, contexts->largest[i]);
                }
        }
}

static int finish_run(struct contexts *contexts, const int32_t *order, size_t run)
{
        int32_t n = contexts->tree.n;

        contexts->self[run] = calloc((size_t)n, sizeof(double));
        contexts->value[run] = calloc((size_t)n, sizeof(double));
        if (!contexts->self[run] || !contexts->value[run])
                return -ENOMEM;
        for (int32_t i = n - 1; i >= 0; i--) {
                contexts->self[run][i] = contexts->trie_self[run][order[i]];
                contexts->value[run][i] += contexts->self[run][i];
                if (i > 0)
                        contexts->value[run][contexts->tree.parent[i]] += contexts->value[run][i];
        }
        if (take_carried(contexts, order, contexts->value[run]) < 0)
                return -ENOMEM;
        return finish_squares(contexts, order, run);
}

int contexts_finish(struct contexts *contexts, const int32_t *rank, size_t n_labels)
{
        _cleanup_free_ int32_t *order = NULL;
        size_t n = contexts->trie.n;
        int err = trie_order(&contexts->trie, rank, n_labels, &order);

        if (err == 0)
                err = tree_make(&contexts->trie, order, rank, &contexts->tree);
        if (err < 0)
                return err;
        contexts->label = calloc(n, sizeof(*contexts->label));
        contexts->shown = calloc(n, sizeof(*contexts->shown));
        contexts->origin = calloc(n, sizeof(*contexts->origin));
        contexts->largest = calloc(n, sizeof(*contexts->largest));
        if (!contexts->label || !contexts->shown || !contexts->origin || !contexts->largest)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                contexts->label[i] = contexts->trie.label[order[i]];
                contexts->shown[i] =
                        contexts->trie_shown[order[i]] >= 0 ? contexts->trie_shown[order[i]] : contexts->label[i];
                contexts->origin[i] = contexts->trie_origin[order[i]];
        }
        finish_largest(contexts, order);
        for (size_t run = 0; err == 0 && run < contexts->n_runs; run++)
                err = finish_run(contexts, order, run);
        trie_clear(&contexts->trie);
        return err;
}

/* Does it cost something, or carry what does? Functions of interpreted code that only call others do not. */
static bool costs(const struct contexts *contexts, int32_t node)
{
        for (size_t run = 0; run < contexts->n_runs; run++)
                if (contexts->value[run][node] > 0)
                        return true;
        return contexts->label[node] == contexts->carrier;
}

bool contexts_is_task(const struct contexts *contexts, const struct labels *labels, int32_t node)
{
        enum context_class above;

        if (node == 0 || contexts_class(contexts, labels, node) != CONTEXT_FRAMEWORK || !costs(contexts, node))
                return false;
        above = contexts_class(contexts, labels, contexts->tree.parent[node]);
        return above == CONTEXT_APP || above == CONTEXT_ROOT;
}
