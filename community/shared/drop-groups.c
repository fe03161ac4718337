/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "drop-groups.h"
#include "order.h"
#include "util/util.h"

#define GROUP_DEVIATIONS 4.0 /* so many standard errors from all others, a group is unlike them */
#define GROUP_CLIENTS_MIN 3
#define GROUPS_LEFT_MAX 8    /* for each grouping */

struct member {
        uint32_t group;
        size_t use;
};

struct group_sums {
        double n, w, e;
};

static int compare_members(const void *a, const void *b)
{
        const struct member *x = a, *y = b;

        return ORDER_TWO(x->group, y->group, x->use, y->use);
}

static void add(struct group_sums *sums, const struct drop_use *use)
{
        sums->n++;
        sums->w += (double)use->weight;
        sums->e += (double)use->weight * drop_effect(use);
}

/* How many standard errors a group is from all others; 0: it is too small, or half of all. */
static double distance(const struct group_sums *group, const struct group_sums *all, double scale)
{
        double rest = all->w - group->w;

        if (group->n < GROUP_CLIENTS_MIN || group->w >= rest)
                return 0;
        return fabs(group->e / group->w - (all->e - group->e) / rest) / (scale * sqrt(1 / group->w + 1 / rest));
}

/* Finds the group that is the most unlike the others, from @first to before @end of the members. */
static bool find_strangest(const struct drop_use *uses, const struct member *members, size_t n, const bool *out,
                           double scale, size_t *first, size_t *end)
{
        struct group_sums all = { .n = 0 };
        double most = GROUP_DEVIATIONS;
        bool found = false;

        for (size_t i = 0; i < n; i++)
                if (!out[members[i].use])
                        add(&all, &uses[members[i].use]);
        for (size_t i = 0, next; i < n; i = next) {
                struct group_sums group = { .n = 0 };
                double away;

                for (next = i; next < n && members[next].group == members[i].group; next++)
                        if (!out[members[next].use])
                                add(&group, &uses[members[next].use]);
                away = members[i].group ? distance(&group, &all, scale) : 0;
                if (away <= most)
                        continue;
                most = away;
                *first = i;
                *end = next;
                found = true;
        }
        return found;
}

int drop_leave_groups(const struct drop_use *uses, size_t n, const struct drop_groups *groups, double scale, bool *out)
{
        _cleanup_free_ struct member *members = malloc((n + 1) * sizeof(*members));
        bool any = false;

        if (!members)
                return -ENOMEM;
        for (int grouping = 0; grouping < DROP_GROUPINGS; grouping++) {
                const uint32_t *of = groups->of[grouping];
                size_t kept = 0, first, end;
                bool known = false;

                for (size_t i = 0; of && i < n; i++)
                        if (uses[i].weight > 0) {
                                known |= of[uses[i].client] != 0;
                                members[kept++] = (struct member){ of[uses[i].client], i };
                        }
                if (!known)
                        continue;
                if (kept)
                        qsort(members, kept, sizeof(*members), compare_members);
                for (int left = 0; left < GROUPS_LEFT_MAX &&
                     find_strangest(uses, members, kept, out, scale, &first, &end); left++)
                        for (size_t i = first; i < end; i++) {
                                out[members[i].use] = true;
                                any = true;
                        }
        }
        return any;
}
