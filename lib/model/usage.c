/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "usage.h"

#include <errno.h>
#include <string.h>

#include "util/util.h"

void usage_clear(struct usage *usage)
{
        free(usage->cpu);
        free(usage->screen);
        *usage = (struct usage){ 0 };
}

int usage_copy(struct usage *to, const struct usage *from)
{
        struct usage copy = *from;

        copy.cpu = NULL;
        copy.screen = NULL;
        if (from->n_cpu > 0) {
                copy.cpu = reallocarray(NULL, from->n_cpu, sizeof(*copy.cpu));
                if (!copy.cpu)
                        return -ENOMEM;
                memcpy(copy.cpu, from->cpu, from->n_cpu * sizeof(*copy.cpu));
        }
        if (from->n_screen > 0) {
                copy.screen = reallocarray(NULL, from->n_screen, sizeof(*copy.screen));
                if (!copy.screen) {
                        free(copy.cpu);
                        return -ENOMEM;
                }
                memcpy(copy.screen, from->screen, from->n_screen * sizeof(*copy.screen));
        }
        *to = copy;
        return 0;
}

static int add(uint64_t *to, uint64_t amount)
{
        return __builtin_add_overflow(*to, amount, to) ? -EOVERFLOW : 0;
}

/* Arrays grow by one; they hold a dozen entries at most on the machines we know. */
static void *insert(void *array, size_t n, size_t at, size_t size)
{
        char *grown = reallocarray(array, n + 1, size);

        if (grown)
                memmove(grown + (at + 1) * size, grown + at * size, (n - at) * size);
        return grown;
}

int usage_add_cpu(struct usage *usage, uint32_t policy, uint32_t khz, uint64_t busy_ns, uint64_t any_ns)
{
        struct cpu_time *grown;
        size_t i;
        int err;

        for (i = 0; i < usage->n_cpu; i++) {
                struct cpu_time *cpu = &usage->cpu[i];

                if (cpu->policy == policy && cpu->khz == khz) {
                        err = add(&cpu->busy_ns, busy_ns);
                        return err ? err : add(&cpu->any_ns, any_ns);
                }
                if (cpu->policy > policy || (cpu->policy == policy && cpu->khz > khz))
                        break;
        }
        grown = insert(usage->cpu, usage->n_cpu, i, sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        usage->cpu = grown;
        usage->cpu[i] = (struct cpu_time){ .policy = policy, .khz = khz, .busy_ns = busy_ns, .any_ns = any_ns };
        usage->n_cpu++;
        return 0;
}

int usage_add_screen(struct usage *usage, uint32_t brightness, uint64_t on_ns)
{
        struct screen_time *grown;
        size_t i;

        for (i = 0; i < usage->n_screen; i++) {
                if (usage->screen[i].brightness == brightness)
                        return add(&usage->screen[i].on_ns, on_ns);
                if (usage->screen[i].brightness > brightness)
                        break;
        }
        grown = insert(usage->screen, usage->n_screen, i, sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        usage->screen = grown;
        usage->screen[i] = (struct screen_time){ .brightness = brightness, .on_ns = on_ns };
        usage->n_screen++;
        return 0;
}

/* Both ascend, and mostly have the same points: each is looked for where the one before was found. */
static int add_cpus(struct usage *to, const struct usage *from)
{
        int err = 0;

        for (size_t i = 0, at = 0; !err && i < from->n_cpu; i++) {
                const struct cpu_time *cpu = &from->cpu[i];

                while (at < to->n_cpu && (to->cpu[at].policy < cpu->policy ||
                                          (to->cpu[at].policy == cpu->policy && to->cpu[at].khz < cpu->khz)))
                        at++;
                if (at == to->n_cpu || to->cpu[at].policy != cpu->policy || to->cpu[at].khz != cpu->khz) {
                        err = usage_add_cpu(to, cpu->policy, cpu->khz, cpu->busy_ns, cpu->any_ns);
                        continue;
                }
                err = add(&to->cpu[at].busy_ns, cpu->busy_ns);
                if (!err)
                        err = add(&to->cpu[at].any_ns, cpu->any_ns);
        }
        return err;
}

int usage_add(struct usage *to, const struct usage *from)
{
        const struct {
                uint64_t *to;
                uint64_t from;
        } amounts[] = {
                { &to->time_ns, from->time_ns },
                { &to->suspend_ns, from->suspend_ns },
                { &to->read_bytes, from->read_bytes },
                { &to->write_bytes, from->write_bytes },
                { &to->wifi_on_ns, from->wifi_on_ns },
                { &to->wifi_rx_bytes, from->wifi_rx_bytes },
                { &to->wifi_tx_bytes, from->wifi_tx_bytes },
                { &to->wifi_wakes, from->wifi_wakes },
                { &to->other_rx_bytes, from->other_rx_bytes },
                { &to->other_tx_bytes, from->other_tx_bytes },
                { &to->gpu_busy_ns, from->gpu_busy_ns },
        };
        bool empty = to->have == 0 && usage_is_zero(to) && to->time_ns == 0 && to->suspend_ns == 0;
        int err;

        for (size_t i = 0; i < ARRAY_SIZE(amounts); i++) {
                err = add(amounts[i].to, amounts[i].from);
                if (err)
                        return err;
        }
        err = add_cpus(to, from);
        if (err)
                return err;
        for (size_t i = 0; i < from->n_screen; i++) {
                err = usage_add_screen(to, from->screen[i].brightness, from->screen[i].on_ns);
                if (err)
                        return err;
        }
        to->have = empty ? from->have : to->have & from->have;
        return 0;
}

uint64_t usage_busy_ns(const struct usage *usage)
{
        uint64_t sum = 0;

        for (size_t i = 0; i < usage->n_cpu; i++)
                sum += usage->cpu[i].busy_ns;
        return sum;
}

uint64_t usage_screen_ns(const struct usage *usage)
{
        uint64_t sum = 0;

        for (size_t i = 0; i < usage->n_screen; i++)
                sum += usage->screen[i].on_ns;
        return sum;
}

bool usage_is_zero(const struct usage *usage)
{
        return usage_busy_ns(usage) == 0 && usage_screen_ns(usage) == 0 && usage->read_bytes == 0 &&
               usage->write_bytes == 0 && usage->wifi_rx_bytes == 0 && usage->wifi_tx_bytes == 0 &&
               usage->wifi_wakes == 0 && usage->other_rx_bytes == 0 && usage->other_tx_bytes == 0 &&
               usage->gpu_busy_ns == 0;
}
