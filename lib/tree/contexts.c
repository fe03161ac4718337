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

/* A node of the stacks, while its part of the contexts is made. */
struct place {
        int32_t node;  /* of the trie */
        int32_t self;  /* likewise, for the stacks that end here */
        int32_t depth;
        char class;    /* of the last frame; enum context_class */
        bool started;  /* a frame that is no start code came */
        bool app;      /* one of the app came */
};

/* A label that is on the path, and what stood there before it came. */
struct undo {
        int32_t depth, before, key;
};

struct maker {
        const struct stacks *stacks;
        const struct context_rules *rules;
        struct labels *labels;
        struct contexts *contexts;
        struct place *places;
        double *weight;        /* of each node of the stacks, of all runs, with all below it */
        double *origin_weight; /* of each node of the trie */
        int32_t *app_path;     /* of each label of the stacks, the node of the trie where it is on the path, + 1; 0: nowhere */
        int32_t *name_path;    /* of each label of the contexts, likewise, for frameworks */
        size_t name_paths;
        int32_t *name;         /* of each label of the stacks, the label of the contexts; -1: none */
        char *class;           /* and enum frame_class */
        int32_t *named_for;    /* and the node of the stacks that names the program for which these are; 0: not looked up yet */
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
        free((*maker)->app_path);
        free((*maker)->name_path);
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
        free(contexts->label);
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

/* The node of this label below another; @origin: the node of the stacks that it is for. */
static int32_t child(struct maker *maker, int32_t parent, int32_t label, int32_t origin)
{
        int32_t node = label < 0 ? label : trie_child(&maker->contexts->trie, parent, label);

        if (node >= 0 && maker->weight[origin] > maker->origin_weight[node]) {
                maker->origin_weight[node] = maker->weight[origin];
                maker->contexts->trie_origin[node] = origin;
        }
        return node;
}

/* Of a label of the stacks its class, and its label in the contexts, once for each program. */
static int look_up(struct maker *maker, int32_t raw)
{
        int32_t label = -1;

        if (maker->named_for[raw] == maker->program_node)
                return 0;
        frame_read(labels_text(&maker->stacks->labels, raw), maker->program, &maker->rules->frames, &maker->frame);
        maker->class[raw] = (char)maker->frame.class;
        if (maker->frame.class == FRAME_INTERRUPT || maker->frame.class == FRAME_FAULT)
                label = contexts_label(maker->labels, CONTEXT_INTERRUPT,
                                       maker->frame.class == FRAME_FAULT ? "[page fault]" : "[interrupt]", "");
        else if (maker->frame.class == FRAME_APP)
                label = contexts_label(maker->labels, CONTEXT_APP, maker->frame.name, "");
        else if (maker->frame.class == FRAME_FRAMEWORK)
                label = contexts_label(maker->labels, CONTEXT_FRAMEWORK, maker->frame.name, maker->frame.dso);
        maker->name[raw] = label;
        maker->named_for[raw] = maker->program_node;
        return label < -1 ? label : 0; /* no errno is 1 here */
}

/* An inlined function, or a frame without a name, is its caller's. */
static int32_t inherited_label(struct maker *maker, int32_t raw, const struct place *above, char *class)
{
        const char *text = labels_text(maker->labels, maker->contexts->trie.label[above->node]), *library = strchr(text, '\t');

        frame_read(labels_text(&maker->stacks->labels, raw), maker->program, &maker->rules->frames, &maker->frame);
        *class = above->class == CONTEXT_FRAMEWORK ? CONTEXT_FRAMEWORK : CONTEXT_APP;
        return contexts_label(maker->labels, (enum context_class)*class, maker->frame.name,
                              *class == CONTEXT_FRAMEWORK && library ? library + 1 : "");
}

/* Where a label is on the path. Keys of the app's labels are from 0 up, those of frameworks from -1 down. */
static int32_t *on_path(struct maker *maker, int32_t key)
{
        return key >= 0 ? &maker->app_path[key] : &maker->name_path[~key];
}

static int make_room(struct maker *maker, int32_t label)
{
        size_t n = maker->name_paths;

        if ((size_t)label < n)
                return 0;
        if (util_grow(&maker->name_path, &maker->name_paths, (size_t)label + 1, sizeof(*maker->name_path)) < 0)
                return -ENOMEM;
        memset(maker->name_path + n, 0, (maker->name_paths - n) * sizeof(*maker->name_path));
        return 0;
}

static void remember(struct maker *maker, int32_t key, int32_t node, int32_t depth)
{
        maker->undo[maker->n_undo++] = (struct undo){ depth, *on_path(maker, key), key };
        *on_path(maker, key) = node + 1;
}

static void forget(struct maker *maker, int32_t depth)
{
        for (; maker->n_undo > 0 && maker->undo[maker->n_undo - 1].depth >= depth; maker->n_undo--)
                *on_path(maker, maker->undo[maker->n_undo - 1].key) = maker->undo[maker->n_undo - 1].before;
}

/* A frame of the app or of a framework. */
static int32_t step(struct maker *maker, int32_t origin, const struct place *above, const struct place *place, int32_t label)
{
        int32_t key = place->class == CONTEXT_APP ? maker->stacks->trie.label[origin] : ~label, node;
        int32_t group = overrides_label(maker->rules->overrides, label);

        if (label < 0 || (key < 0 && make_room(maker, label) < 0))
                return label < 0 ? label : -ENOMEM;
        if (*on_path(maker, key)) /* recursion */
                return *on_path(maker, key) - 1;
        if (place->class == CONTEXT_APP && above->class == CONTEXT_APP && !maker->rules->keep)
                node = above->node;
        else if (place->class == CONTEXT_FRAMEWORK && group == maker->contexts->trie.label[above->node])
                node = above->node; /* what it overrides, or what overrides it */
        else
                node = child(maker, above->node, group, origin);
        if (node >= 0)
                remember(maker, key, node, place->depth);
        return node;
}

static bool ends_here(const struct stacks *stacks, int32_t origin)
{
        for (size_t run = 0; run < stacks->n_runs; run++)
                if (stacks_value(&stacks->runs[run], (size_t)origin) > 0)
                        return true;
        return false;
}

/* A function of the app as a task: a call below the app's node that calls nothing. */
static int32_t own_node(struct maker *maker, int32_t origin, int32_t node, int32_t label)
{
        const char *name = labels_text(maker->labels, label) + 1;
        bool named = strcmp(name, "[unknown]") != 0;
        char copy[FRAME_NAME_MAX]; /* a new label may move the others */

        snprintf(copy, sizeof(copy), "%s", name);
        return child(maker, node, contexts_label(maker->labels, CONTEXT_FRAMEWORK, copy, named ? "[own]" : maker->program), origin);
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
        place->started = true;
        switch ((enum frame_class)maker->class[raw]) {
        case FRAME_APP:
                place->class = CONTEXT_APP;
                node = step(maker, origin, above, place, label);
                break;
        case FRAME_FRAMEWORK:
                place->class = CONTEXT_FRAMEWORK;
                node = step(maker, origin, above, place, label);
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
        if (node >= 0 && maker->rules->own && place->class == CONTEXT_APP && ends_here(maker->stacks, origin))
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
        maker->app_path = calloc(n_labels, sizeof(*maker->app_path));
        maker->name = calloc(n_labels, sizeof(*maker->name));
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
        return maker->places && maker->weight && maker->origin_weight && maker->app_path && maker->name && maker->class && maker->named_for &&
                               contexts->trie_origin && contexts->trie_self && contexts->trie_square && contexts->self &&
                               contexts->value && contexts->square && contexts->without_app
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
        for (size_t i = 0; i < count_nodes(maker); i++)
                maker->origin_weight[i] = -1;
}

/* The values of each run go where the stacks went, in an order that is not that of the input. */
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
                                contexts->trie_square[run][place->self] += stacks_square(&stacks->runs[run], (size_t)order[i]);
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
        for (size_t i = 1; i < stacks->trie.n; i++) {
                int32_t node = order[i];

                if (stacks->trie.parent[node] == 0) { /* the app's name */
                        forget(maker, 0);
                        maker->program = stacks->program ? stacks->program : labels_text(&stacks->labels, stacks->trie.label[node]);
                        maker->program_node = node;
                        maker->places[node] = maker->places[0];
                        continue;
                }
                err = visit(maker, node);
                if (err < 0)
                        return err;
        }
        return 0;
}

int contexts_make(const struct stacks *stacks, const struct context_rules *rules, struct labels *labels, struct contexts *ret)
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
        return 0;
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
        contexts->origin = calloc(n, sizeof(*contexts->origin));
        contexts->largest = calloc(n, sizeof(*contexts->largest));
        if (!contexts->label || !contexts->origin || !contexts->largest)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                contexts->label[i] = contexts->trie.label[order[i]];
                contexts->origin[i] = contexts->trie_origin[order[i]];
        }
        finish_largest(contexts, order);
        for (size_t run = 0; err == 0 && run < contexts->n_runs; run++)
                err = finish_run(contexts, order, run);
        trie_clear(&contexts->trie);
        return err;
}

bool contexts_is_task(const struct contexts *contexts, const struct labels *labels, int32_t node)
{
        enum context_class above;

        if (node == 0 || contexts_class(contexts, labels, node) != CONTEXT_FRAMEWORK)
                return false;
        above = contexts_class(contexts, labels, contexts->tree.parent[node]);
        return above == CONTEXT_APP || above == CONTEXT_ROOT;
}
