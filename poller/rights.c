/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rights.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* capget(2), without depending on libcap. */
void rights_give_up(void)
{
        struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

        (void)prctl(PR_CAPBSET_DROP, CAP_NET_ADMIN, 0, 0, 0); /* fails without CAP_SETPCAP */
        if (syscall(SYS_capget, &head, data) < 0)
                return;
        data[CAP_TO_INDEX(CAP_NET_ADMIN)].permitted &= ~CAP_TO_MASK(CAP_NET_ADMIN);
        data[CAP_TO_INDEX(CAP_NET_ADMIN)].effective &= ~CAP_TO_MASK(CAP_NET_ADMIN);
        data[CAP_TO_INDEX(CAP_NET_ADMIN)].inheritable &= ~CAP_TO_MASK(CAP_NET_ADMIN);
        (void)syscall(SYS_capset, &head, data);
}
