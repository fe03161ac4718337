/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Methods of frameworks that override one another. A method that calls one of the same name and arguments in another class,
 * as QPushButton::event() calls QWidget::event(), does what that one does and a little more: all of such a group, in all
 * programs, have one label. It is the "class hierarchy problem" of DiffProf, section 3.5; stacks do not tell who derives from
 * whom, so what calls the other counts as related, also through a third.
 */

#include "contexts.h"

struct overrides {
        int32_t *to; /* of each label, another of its group, or itself; what is behind @n is alone */
        bool *calls; /* of each label: it calls another of its group */
        size_t n, capacity, calls_capacity;
};

void overrides_clear(struct overrides *overrides);
/* Adds those of a program, before contexts are made of any. @labels: of the contexts. 0; -ENOMEM; -E2BIG. */
int overrides_add(struct overrides *overrides, const struct stacks *stacks, const struct frame_rules *rules, struct labels *labels);
/* When those of all programs were added: the label of each group is that of a base class, as far as calls tell. 0; -ENOMEM. */
int overrides_finish(struct overrides *overrides, const struct labels *labels);
/* The label of its group, or @label itself. @overrides may be NULL. */
int32_t overrides_label(struct overrides *overrides, int32_t label);
