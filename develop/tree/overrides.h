/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Methods of frameworks that override one another. A method that calls one of the same name and arguments
 * in another class, as QPushButton::event() calls QWidget::event(), does the work of that one and a little
 * more: all methods of such a group, in all programs, have one label. It is the "class hierarchy problem" of
 * DiffProf, section 3.5. Stacks do not tell which class derives from which, so methods are related if one calls
 * the other, also through a third.
 */

#include "contexts.h"

struct overrides {
        int32_t *to; /* for each label, another of its group, or itself; labels from @n on are alone */
        bool *calls; /* for each label, whether it calls another of its group */
        size_t n, capacity, calls_capacity;
};

void overrides_clear(struct overrides *overrides);
/* Adds a program's methods, before contexts are made of any. @labels: the contexts' labels. 0; -ENOMEM; -E2BIG. */
int overrides_add(struct overrides *overrides, const struct stacks *stacks, const struct frame_rules *rules,
                  struct labels *labels);
/*
 * Chooses the label of each group, when the methods of all programs were added: that of a base class, as far as
 * calls tell. 0; -ENOMEM.
 */
int overrides_finish(struct overrides *overrides, const struct labels *labels);
/* The label of its group, or @label itself. @overrides may be NULL. */
int32_t overrides_label(struct overrides *overrides, int32_t label);
