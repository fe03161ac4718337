/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "overrides.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

/* The method of a frame of the stacks in one program. */
struct method {
        int32_t program; /* node of the stacks whose frame names the program; 0: not looked up yet */
        int32_t name;    /* name with arguments, in the finder's names; -1: it has no class, or is no framework's */
        int32_t label;   /* label in the contexts */
};

struct finder {
        const struct stacks *stacks;
        const struct frame_rules *rules;
        struct labels *labels, names;
        struct method *methods; /* one for each label of the stacks */
        struct frame frame;
};

static void finder_free(struct finder **finder)
{
        if (!*finder)
                return;
        labels_clear(&(*finder)->names);
        free((*finder)->methods);
        free(*finder);
}

void overrides_clear(struct overrides *overrides)
{
        free(overrides->to);
        free(overrides->calls);
        *overrides = (struct overrides){ 0 };
}

int32_t overrides_label(struct overrides *overrides, int32_t label)
{
        if (!overrides || label < 0 || (size_t)label >= overrides->n)
                return label;
        for (int32_t *to = overrides->to; to[label] != label; label = to[label])
                to[label] = to[to[label]]; /* halves the path for the next time */
        return label;
}

static int make_room(struct overrides *overrides, int32_t label)
{
        if (util_grow(&overrides->to, &overrides->capacity, (size_t)label + 1, sizeof(*overrides->to)) < 0 ||
            util_grow(&overrides->calls, &overrides->calls_capacity, (size_t)label + 1, sizeof(*overrides->calls)) < 0)
                return -ENOMEM;
        for (; overrides->n <= (size_t)label; overrides->n++) {
                overrides->to[overrides->n] = (int32_t)overrides->n;
                overrides->calls[overrides->n] = false;
        }
        return 0;
}

static int join(struct overrides *overrides, int32_t caller, int32_t called)
{
        if (make_room(overrides, MAX(caller, called)) < 0)
                return -ENOMEM;
        overrides->calls[caller] = true;
        overrides->to[overrides_label(overrides, caller)] = overrides_label(overrides, called);
        return 0;
}

/*
 * Is @a rather than @b the base class? A base class calls none of the others. Among several, it is the one with the
 * shorter name; the order of the input never decides.
 */
static bool comes_first(const struct overrides *overrides, const struct labels *labels, int32_t a, int32_t b)
{
        const char *x = labels_text(labels, a), *y = labels_text(labels, b);
        size_t n = strlen(x), m = strlen(y);

        if (overrides->calls[a] != overrides->calls[b])
                return overrides->calls[b];
        return n != m ? n < m : strcmp(x, y) < 0;
}

int overrides_finish(struct overrides *overrides, const struct labels *labels)
{
        size_t n = overrides->n;
        _cleanup_free_ int32_t *group = calloc(n + 1, sizeof(*group)), *first = calloc(n + 1, sizeof(*first));

        if (!group || !first)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                group[i] = overrides_label(overrides, (int32_t)i);
                first[i] = (int32_t)i;
        }
        for (size_t i = 0; i < n; i++)
                if (comes_first(overrides, labels, (int32_t)i, first[group[i]]))
                        first[group[i]] = (int32_t)i;
        for (size_t i = 0; i < n; i++)
                overrides->to[i] = first[group[i]];
        return 0;
}

/* The method "event(QEvent*)" of "QWidget::event(QEvent*)"; NULL: no class is named. */
static const char *method_of(const char *name)
{
        const char *found = NULL;
        int inside = 0;

        for (; *name && *name != '('; name++) {
                inside += *name == '<';
                inside -= *name == '>' && inside > 0;
                if (inside == 0 && name[0] == ':' && name[1] == ':')
                        found = name + 2;
        }
        return found && *found ? found : NULL;
}

/* Finds the method of a label of the stacks in a program, unless it was last looked up for this program. */
static int look_up(struct finder *finder, int32_t raw, int32_t program, const char *program_name)
{
        struct method *method = &finder->methods[raw];
        const char *name;

        if (method->program == program)
                return 0;
        *method = (struct method){ program, -1, -1 };
        if (!strstr(labels_text(&finder->stacks->labels, raw), "::"))
                return 0;
        if (frame_read(labels_text(&finder->stacks->labels, raw), program_name, finder->rules, &finder->frame) < 0)
                return -ENOMEM;
        name = method_of(finder->frame.name);
        if (finder->frame.class != FRAME_FRAMEWORK || !name)
                return 0;
        method->name = labels_add(&finder->names, name, strlen(name));
        method->label = contexts_label(finder->labels, CONTEXT_FRAMEWORK, finder->frame.name, finder->frame.dso);
        return method->name < 0 ? method->name : method->label < 0 ? method->label : 0;
}

/* Adds a call from one label of the stacks to another. */
static int add_call(struct overrides *overrides, struct finder *finder, int32_t from, int32_t to, int32_t program)
{
        const struct stacks *stacks = finder->stacks;
        const char *name =
                stacks->program ? stacks->program : labels_text(&stacks->labels, stacks->trie.label[program]);
        const struct method *caller = &finder->methods[from], *called = &finder->methods[to];
        int err = look_up(finder, from, program, name);

        if (err == 0)
                err = look_up(finder, to, program, name);
        if (err < 0 || caller->name < 0 || caller->name != called->name)
                return err;
        return join(overrides, caller->label, called->label);
}

static int add_all(struct overrides *overrides, struct finder *finder, int32_t *programs)
{
        const struct trie *trie = &finder->stacks->trie;

        for (size_t i = 1; i < trie->n; i++) {
                int32_t parent = trie->parent[i];
                int err = 0;

                programs[i] = parent ? programs[parent] : (int32_t)i;
                if (parent && parent != programs[i])
                        err = add_call(overrides, finder, trie->label[parent], trie->label[i], programs[i]);
                if (err < 0)
                        return err;
        }
        return 0;
}

int overrides_add(struct overrides *overrides, const struct stacks *stacks, const struct frame_rules *rules,
                  struct labels *labels)
{
        _cleanup_(finder_free) struct finder *finder = calloc(1, sizeof(*finder));
        _cleanup_free_ int32_t *programs = calloc(stacks->trie.n + 1, sizeof(*programs));

        if (!finder || !programs)
                return -ENOMEM;
        finder->stacks = stacks;
        finder->rules = rules;
        finder->labels = labels;
        finder->methods = calloc(stacks->labels.n + 1, sizeof(*finder->methods));
        return finder->methods ? add_all(overrides, finder, programs) : -ENOMEM;
}
