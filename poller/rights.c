/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rights.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/util.h"

/* Newer than the headers of some build machines. */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_BPF
#define CAP_BPF 39
#endif

static const int given[] = { CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN };

/* capget(2) and capset(2), without depending on libcap. */
struct rights {
        struct __user_cap_header_struct head;
        struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
};

static int get(struct rights *ret)
{
        *ret = (struct rights){ .head.version = _LINUX_CAPABILITY_VERSION_3 };
        return syscall(SYS_capget, &ret->head, ret->data) < 0 ? -errno : 0;
}

static int set(struct rights *rights)
{
        return syscall(SYS_capset, &rights->head, rights->data) < 0 ? -errno : 0;
}

static void remove_given(struct rights *rights, bool for_good)
{
        for (size_t i = 0; i < ARRAY_SIZE(given); i++) {
                struct __user_cap_data_struct *data = &rights->data[CAP_TO_INDEX(given[i])];

                data->effective &= ~CAP_TO_MASK(given[i]);
                if (!for_good)
                        continue;
                data->permitted &= ~CAP_TO_MASK(given[i]);
                data->inheritable &= ~CAP_TO_MASK(given[i]); /* which also removes it from the ambient set */
        }
}

/*
 * Root also drops them from the bounding set, as a program that it executes would get them back. Others lack
 * CAP_SETPCAP, and have no_new_privs for that.
 */
int rights_give_up(void)
{
        struct rights rights;
        int err = get(&rights);

        if (err)
                return err;
        for (size_t i = 0; i < ARRAY_SIZE(given); i++)
                (void)prctl(PR_CAPBSET_DROP, given[i], 0, 0, 0);
        (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        remove_given(&rights, true);
        return set(&rights);
}

/*
 * Tries a lookup in an invalid map after dropping them: the kernel checks the permission before it finds that
 * there is no map.
 */
bool rights_bpf_stays(void)
{
        union bpf_attr attr = { .map_fd = UINT32_MAX };
        struct rights before, without;
        bool stays = true;

        if (get(&before) < 0)
                return true;
        without = before;
        remove_given(&without, false);
        if (set(&without) < 0)
                return true;
        stays = syscall(SYS_bpf, BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr)) == 0 || errno != EPERM;
        (void)set(&before);
        return stays;
}
