"""A trained model behind an address: ``regard serve``, its endpoints and its page.

``app`` lists the endpoints, ``shelf`` holds the models, ``gathering`` makes batches of requests,
``guard`` turns away what is too large, too slow or not allowed. Needs the extra ``serve``.
"""
