from sherd.torch import *  # noqa: F401,F403
from sherd.torch import _duplicates, _end as _end_ptr, _storage, shared_tensors  # noqa: F401


def storage_ptr(tensor):
    return _storage(tensor)[0]


def storage_size(tensor):
    return _storage(tensor)[1]


def _find_shared_tensors(state_dict):
    return shared_tensors(state_dict)


def _is_complete(tensor):
    return (tensor.data_ptr(), tensor.nelement() * tensor.element_size()) == _storage(tensor)


def _remove_duplicate_names(state_dict, *, preferred_names=None, discard_names=None):
    return _duplicates(state_dict, preferred_names or ())
