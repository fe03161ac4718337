/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "functions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

/* A function of a program. */
struct function {
        const char *name;  /* its whole name */
        size_t program;
        int32_t whole;     /* label of the whole name, which other programs share */
        int32_t key;       /* a text of finder->keys, by which functions are sorted */
        size_t level;      /* level of the name that tells it from all others of the program */
};

struct finder {
        struct contexts *const *contexts;
        size_t n_contexts;
        struct labels *labels, keys;
        char *names;         /* copies, because labels may move */
        int32_t *label;      /* for each label, the one that replaces it; -1: it is no function of the app */
        int32_t *shown;
        int32_t *short_key;  /* for each label, the key of its short name; -1: it is no function of the app */
        char *collides;      /* for each key of a short name, whether the name is ambiguous */
        struct function *list, **order;
        size_t n, n_labels;
};

static void finder_clear(struct finder *finder)
{
        labels_clear(&finder->keys);
        free(finder->names);
        free(finder->label);
        free(finder->shown);
        free(finder->short_key);
        free(finder->collides);
        free(finder->list);
        free(finder->order);
}

/* Is it a function of the app: a callback, or a task by --own? */
static bool is_own(const char *label)
{
        const char *library = strchr(label, '\t');

        return *label == CONTEXT_APP ||
               (*label == CONTEXT_FRAMEWORK && library && strcmp(library + 1, CONTEXT_OWN) == 0);
}

/*
 * A short name that several functions of a program have collides if one of these functions is in another program,
 * too: the one with the same whole name there is its partner, and the others are not.
 */
static int find_shared(struct finder *finder)
{
        _cleanup_free_ size_t *program = calloc(finder->keys.n + 1, sizeof(*program)),
                              *seen = calloc(finder->n_labels + 1, sizeof(*seen));
        _cleanup_free_ char *several = calloc(finder->keys.n + 1, 1), *shared = calloc(finder->keys.n + 1, 1);

        if (!program || !seen || !several || !shared)
                return -ENOMEM;
        for (size_t i = 0; i < finder->n; i++) {
                const struct function *function = &finder->list[i];

                several[function->key] |= program[function->key] == function->program + 1;
                shared[function->key] |= seen[function->whole]++ > 0;
                program[function->key] = function->program + 1;
        }
        for (size_t i = 0; i < finder->keys.n; i++)
                finder->collides[i] = several[i] && shared[i];
        return 0;
}

/* The key of a text; callbacks and tasks have different keys. */
static int32_t make_key(struct finder *finder, const struct function *function, const char *text)
{
        char key[NAME_MAX_BYTES + 2];
        int length = snprintf(key, sizeof(key), "%c%s", labels_text(finder->labels, function->whole)[0], text);

        return labels_add(&finder->keys, key, (size_t)length);
}

static int32_t key_at(struct finder *finder, const struct function *function, size_t level)
{
        char text[NAME_MAX_BYTES];

        return make_key(finder, function,
                        name_text(function->name, finder->contexts[function->program]->program, level, text));
}

static int copy_names(struct finder *finder)
{
        struct labels *labels = finder->labels;

        finder->names = malloc(labels->pool_length + 1);
        if (!finder->names)
                return -ENOMEM;
        memcpy(finder->names, labels->pool, labels->pool_length);
        for (size_t i = 0; i < finder->n_labels; i++) {
                char *name = finder->names + labels->at[i];

                finder->label[i] = finder->short_key[i] = finder->shown[i] = -1;
                name[strcspn(name, "\t")] = '\0';
        }
        return 0;
}

/* Lists the functions of a program, each once. @seen: for each label, the last program that had it, + 1. */
static int list_program(struct finder *finder, size_t program, size_t *seen, size_t *capacity)
{
        const struct trie *trie = &finder->contexts[program]->trie;

        for (size_t i = 1; i < trie->n; i++) {
                int32_t label = trie->label[i];
                const char *text = labels_text(finder->labels, label);

                if (seen[label] == program + 1 || !is_own(text))
                        continue;
                seen[label] = program + 1;
                if (util_grow(&finder->list, capacity, finder->n + 1, sizeof(*finder->list)) < 0)
                        return -ENOMEM;
                finder->list[finder->n] = (struct function){ .name = finder->names + finder->labels->at[label] + 1,
                                                             .program = program,
                                                             .whole = label };
                finder->list[finder->n].key = key_at(finder, &finder->list[finder->n], 0);
                if (finder->list[finder->n].key < 0)
                        return finder->list[finder->n].key;
                if (finder->short_key[label] < 0)
                        finder->short_key[label] = finder->list[finder->n].key;
                finder->list[finder->n].key = finder->short_key[label];
                finder->n++;
        }
        return 0;
}

static int list_all(struct finder *finder)
{
        _cleanup_free_ size_t *seen = calloc(finder->n_labels + 1, sizeof(*seen));
        size_t capacity = 0;
        int err = seen ? copy_names(finder) : -ENOMEM;

        for (size_t i = 0; err == 0 && i < finder->n_contexts; i++)
                err = list_program(finder, i, seen, &capacity);
        if (err < 0)
                return err;
        finder->order = calloc(finder->n + 1, sizeof(*finder->order));
        finder->collides = calloc(finder->keys.n + 1, 1);
        return finder->order && finder->collides ? find_shared(finder) : -ENOMEM;
}

struct sibling {
        int32_t parent, key, label;
};

static int compare_siblings(const void *a, const void *b)
{
        const struct sibling *x = a, *y = b;

        if (x->parent != y->parent)
                return x->parent < y->parent ? -1 : 1;
        if (x->key != y->key)
                return x->key < y->key ? -1 : 1;
        return (x->label > y->label) - (x->label < y->label);
}

static int find_collisions(struct finder *finder, const struct trie *trie)
{
        _cleanup_free_ struct sibling *list = calloc(trie->n + 1, sizeof(*list));
        size_t n = 0;

        if (!list)
                return -ENOMEM;
        for (size_t i = 1; i < trie->n; i++)
                if (finder->short_key[trie->label[i]] >= 0)
                        list[n++] = (struct sibling){ trie->parent[i], finder->short_key[trie->label[i]],
                                                      trie->label[i] };
        qsort(list, n, sizeof(*list), compare_siblings);
        for (size_t i = 1; i < n; i++)
                if (list[i].parent == list[i - 1].parent && list[i].key == list[i - 1].key)
                        finder->collides[list[i].key] = 1;
        return 0;
}

/* Sorts by key, then by program, then by name; numbers in names by their value. */
static int compare_functions(const void *a, const void *b)
{
        const struct function *x = *(struct function *const *)a, *y = *(struct function *const *)b;

        if (x->key != y->key)
                return x->key < y->key ? -1 : 1;
        if (x->program != y->program)
                return x->program < y->program ? -1 : 1;
        return strverscmp(x->name, y->name);
}

/* The number of functions from @from on that have the same key, in a sorted list. */
static size_t count_same(struct function *const *list, size_t n, size_t from)
{
        size_t end = from + 1;

        while (end < n && list[end]->key == list[from]->key)
                end++;
        return end - from;
}

/* Joins functions of equal keys, if several programs have one of them and none has two. */
static void join_same(struct finder *finder, struct function *const *list, size_t n)
{
        const struct function *first = list[0];

        for (size_t i = 1; i < n; i++) {
                if (list[i]->program == list[i - 1]->program)
                        return;
                if (strcmp(list[i]->name, first->name) < 0)
                        first = list[i];
        }
        for (size_t i = 0; n > 1 && i < n; i++)
                finder->label[list[i]->whole] = first->whole;
}

/* Keeps the functions that have no partner yet. Their number. */
static size_t keep_alone(const struct finder *finder, struct function **list, size_t n)
{
        size_t kept = 0;

        for (size_t i = 0; i < n; i++)
                if (finder->label[list[i]->whole] < 0)
                        list[kept++] = list[i];
        return kept;
}

static void join_groups(struct finder *finder, struct function **list, size_t n)
{
        qsort(list, n, sizeof(*list), compare_functions);
        for (size_t i = 0, same; i < n; i += same) {
                same = count_same(list, n, i);
                join_same(finder, list + i, same);
        }
}

/* Makes keys of names without their number, and of the rank of the number among those of its program. */
static int key_by_places(struct finder *finder, struct function **list, size_t n)
{
        _cleanup_free_ size_t *places = calloc(n + 1, sizeof(*places));
        char text[NAME_MAX_BYTES + 32];

        if (!places)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                snprintf(text, NAME_MAX_BYTES, "%.*s", (int)name_plain_length(list[i]->name), list[i]->name);
                list[i]->key = make_key(finder, list[i], text);
                if (list[i]->key < 0)
                        return list[i]->key;
        }
        qsort(list, n, sizeof(*list), compare_functions);
        for (size_t i = 1; i < n; i++)
                if (list[i]->key == list[i - 1]->key && list[i]->program == list[i - 1]->program)
                        places[i] = places[i - 1] + 1;
        for (size_t i = 0; i < n; i++) {
                snprintf(text, sizeof(text), "%.4000s\t%zu", labels_text(&finder->keys, list[i]->key), places[i]);
                list[i]->key = labels_add(&finder->keys, text, strlen(text));
                if (list[i]->key < 0)
                        return list[i]->key;
        }
        return 0;
}

/* Pairs functions of a short name that collides. */
static int pair(struct finder *finder, struct function **list, size_t n)
{
        int err;

        for (size_t i = 0; i < n; i++)
                list[i]->key = list[i]->whole;
        join_groups(finder, list, n);
        n = keep_alone(finder, list, n);
        err = key_by_places(finder, list, n);
        if (err < 0)
                return err;
        join_groups(finder, list, n);
        for (size_t level = NAME_LEVELS; level-- > 0;) {
                n = keep_alone(finder, list, n);
                for (size_t i = 0; i < n; i++) {
                        list[i]->key = key_at(finder, list[i], level);
                        if (list[i]->key < 0)
                                return list[i]->key;
                }
                join_groups(finder, list, n);
        }
        n = keep_alone(finder, list, n);
        for (size_t i = 0; i < n; i++)
                finder->label[list[i]->whole] = list[i]->whole;
        return 0;
}

static int32_t label_of(struct finder *finder, int32_t whole, const char *text)
{
        bool callback = labels_text(finder->labels, whole)[0] == CONTEXT_APP;

        return contexts_label(finder->labels, callback ? CONTEXT_APP : CONTEXT_FRAMEWORK, text,
                              callback ? "" : CONTEXT_OWN);
}

/* Is the short name the whole one of a function with another short name, as "app_load" of "app_app_load"? */
static bool is_taken(const struct finder *finder, int32_t key, int32_t label)
{
        return (size_t)label < finder->n_labels && finder->short_key[label] >= 0 && finder->short_key[label] != key;
}

/* Is it ":(anonymous)" of "x.js:(anonymous)", the code of a script outside of its functions? */
static bool is_script(const char *word)
{
        return word && (strcmp(word, ":(anonymous)") == 0 || strcmp(word, ":<module>") == 0 ||
                        strcmp(word, ":<main>") == 0);
}

/* The key of a function whose short name no other has: without numbers; that of a script without the script's name. */
static int32_t key_alone(struct finder *finder, const struct function *function)
{
        const char *program = finder->contexts[function->program]->program;
        char text[NAME_MAX_BYTES];
        const char *word = strrchr(name_without_numbers(function->name, program, text), ':');

        return make_key(finder, function, is_script(word) ? word : text);
}

/*
 * A closure meets the one of another number, as run.func1 run.func2, and a script that of another name, as x1.js
 * x2.js, if each program has only one that the others do not have.
 */
static int choose_labels(struct finder *finder)
{
        size_t alone = 0;

        for (size_t i = 0; i < finder->n; i++)
                finder->order[i] = &finder->list[i];
        qsort(finder->order, finder->n, sizeof(*finder->order), compare_functions);
        for (size_t i = 0, same; i < finder->n; i += same) {
                int32_t key = finder->order[i]->key, label = 0;
                struct function *one;
                int err = 0;

                same = count_same(finder->order, finder->n, i);
                label = label_of(finder, finder->order[i]->whole, labels_text(&finder->keys, key) + 1);
                if (label >= 0 && (finder->collides[key] || is_taken(finder, key, label)))
                        err = pair(finder, finder->order + i, same);
                for (size_t j = i; err == 0 && !finder->collides[key] && j < i + same; j++)
                        if (finder->label[finder->order[j]->whole] < 0)
                                finder->label[finder->order[j]->whole] = label;
                if (err < 0 || label < 0)
                        return err < 0 ? err : label;
                if (same > 1)
                        continue;
                one = finder->order[alone++] = finder->order[i];
                one->key = key_alone(finder, one);
                if (one->key < 0)
                        return one->key;
        }
        join_groups(finder, finder->order, alone);
        return 0;
}

/*
 * Raises the level of functions that share their key with another one of their program: they need more of their
 * name. The number of functions whose level can still rise.
 */
static size_t keep_unclear(struct function **list, size_t n)
{
        size_t kept = 0;

        qsort(list, n, sizeof(*list), compare_functions);
        for (size_t i = 0; i < n; i++) {
                struct function *one = list[i];
                bool before = i > 0 && list[i - 1]->key == one->key && list[i - 1]->program == one->program;
                bool after = i + 1 < n && list[i + 1]->key == one->key && list[i + 1]->program == one->program;

                if (before || after)
                        one->level++;
        }
        for (size_t i = 0; i < n; i++)
                if (list[i]->level < NAME_LEVELS)
                        list[kept++] = list[i];
        return kept;
}

static int choose_shown(struct finder *finder)
{
        char text[NAME_MAX_BYTES];
        size_t n = finder->n;

        for (size_t level = 0; level < NAME_LEVELS && n > 0; level++) {
                size_t kept = 0;

                for (size_t i = 0; i < n; i++) {
                        struct function *one = level ? finder->order[i] : &finder->list[i];

                        if (one->level < level)
                                continue;
                        one->key = key_at(finder, one, level);
                        if (one->key < 0)
                                return one->key;
                        finder->order[kept++] = one;
                }
                n = keep_unclear(finder->order, kept);
        }
        for (size_t i = 0; i < finder->n; i++) {
                const struct function *one = &finder->list[i];
                int32_t shown = label_of(finder, one->whole,
                                         name_text(one->name, finder->contexts[one->program]->program,
                                                   MIN(one->level, (size_t)NAME_LEVELS - 1), text));

                if (shown < 0)
                        return shown;
                if (finder->shown[one->whole] < 0 ||
                    strlen(labels_text(finder->labels, shown)) >
                            strlen(labels_text(finder->labels, finder->shown[one->whole])))
                        finder->shown[one->whole] = shown;
        }
        return 0;
}

static void put_labels(const struct finder *finder, struct contexts *contexts)
{
        struct trie *trie = &contexts->trie;

        for (size_t i = 0; i < trie->n; i++) {
                int32_t label = trie->label[i];

                if (finder->label[label] < 0)
                        continue;
                contexts->trie_shown[i] = finder->shown[label];
                trie->label[i] = finder->label[label];
        }
}

int functions_name(struct contexts *const *contexts, size_t n, struct labels *labels)
{
        _cleanup_(finder_clear) struct finder finder = {
                .contexts = contexts, .n_contexts = n, .labels = labels, .n_labels = labels->n
        };
        int err;

        finder.label = calloc(labels->n + 1, sizeof(*finder.label));
        finder.shown = calloc(labels->n + 1, sizeof(*finder.shown));
        finder.short_key = calloc(labels->n + 1, sizeof(*finder.short_key));
        if (!finder.label || !finder.shown || !finder.short_key)
                return -ENOMEM;
        err = list_all(&finder);
        for (size_t i = 0; err == 0 && i < n; i++)
                err = find_collisions(&finder, &contexts[i]->trie);
        if (err == 0)
                err = choose_labels(&finder);
        if (err == 0)
                err = choose_shown(&finder);
        for (size_t i = 0; err == 0 && i < n; i++)
                put_labels(&finder, contexts[i]);
        return err;
}
